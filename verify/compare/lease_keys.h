// Lock keys with leases, the recipe of etcd's client library (docs/comparison.md has the addresses of the rules).
//
// The store is linearizable and always available. A session is a lease. A client puts a key attached to its lease under the
// lock's prefix. It holds the lock when no key with an older creation revision is left, and waits for the deletion of the
// youngest older one. The store counts a lease from the receipt of a keep-alive and checks for ended leases twice a second.
// The client asks again a third of the TTL after an answer. It counts from the receipt of the answer, and checks its deadline
// once a second.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compare/scene.h"

namespace coordkit::sim::compare {

class LeaseStore {
 public:
  LeaseStore(Scene& scene, Duration ttl);

  uint64_t grant();                 // a lease
  bool keep_alive(uint64_t lease);  // false: the lease does not exist
  // The creation revision of its key, made or found; nullopt: the lease does not exist.
  std::optional<uint64_t> put(uint64_t lease);
  std::optional<uint64_t> last_before(uint64_t revision) const;
  bool exists(uint64_t revision) const { return keys_.contains(revision); }
  void when_deleted(uint64_t revision, Scene::Act act);  // at once if it is gone
  void remove(uint64_t revision);
  Duration ttl() const { return ttl_; }

 private:
  void sweep();

  Scene& scene_;
  const Duration ttl_;
  uint64_t revision_ = 1;
  uint64_t last_lease_ = 0;
  std::map<uint64_t, LeadingTime> leases_;  // to deadlines
  std::map<uint64_t, uint64_t> keys_;       // creation revision to lease
  std::multimap<uint64_t, Scene::Act> watches_;
};

class LeaseKeyLock final : public LockEnd {
 public:
  LeaseKeyLock(Scene& scene, LeaseStore& store, uint32_t machine);

  void acquire(std::function<void()> granted) override;
  bool holds() const override { return held_ && alive_; }
  Token token() const override { return held_ ? Token(revision_) : Token(); }
  void release() override;

 private:
  // A call to the store: `there` runs at the store, `back` here with its result.
  template <typename There, typename Back>
  void call(There there, Back back);
  void open();
  void keep_alive();
  void answered(bool lives);
  void watch_deadline();
  void enqueue();
  void wait_for_turn();
  void look_at_own_key();

  Scene& scene_;
  LeaseStore& store_;
  const uint32_t machine_;
  uint64_t lease_ = 0;
  bool alive_ = false;  // the session is not known to be over
  LeadingTime deadline_;
  uint64_t revision_ = 0;  // of our key
  bool held_ = false;
  std::function<void()> granted_;
};

}  // namespace coordkit::sim::compare
