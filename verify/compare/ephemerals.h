// Sequential ephemeral nodes, the lock recipe of ZooKeeper. It has the precaution that its users are advised to take: while
// the client is not connected, it does not act. docs/comparison.md has the addresses of the rules.
//
// The ensemble is linearizable and always available. Any message from a session restarts that session's timeout, rounded up
// to its next tick. An ended session loses its nodes and its connection. The client pings every third of the timeout and
// counts two thirds of it from every message. Then it takes the connection for dead, reconnects and learns whether it is
// still known.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compare/scene.h"

namespace coordkit::sim::compare {

class Ensemble {
 public:
  Ensemble(Scene& scene, Duration timeout);

  uint64_t open();
  bool touch(uint64_t session);  // false: expired
  // The sequence number of the session's node. A client whose connection broke before the answer finds the node that it
  // created.
  std::optional<uint64_t> create(uint64_t session);
  std::optional<uint64_t> last_before(uint64_t node) const;
  void when_deleted(uint64_t node, Scene::Act act);  // at once if it is gone
  void remove(uint64_t node);
  void on_expiry(uint64_t session, Scene::Act act) { closing_[session] = std::move(act); }
  Duration timeout() const { return timeout_; }

 private:
  void sweep();

  Scene& scene_;
  const Duration timeout_;
  const Duration tick_;
  uint64_t last_ = 0;
  std::map<uint64_t, LeadingTime> sessions_;
  std::map<uint64_t, uint64_t> nodes_;  // to sessions
  std::map<uint64_t, Scene::Act> closing_;
  std::multimap<uint64_t, Scene::Act> watches_;
};

class EphemeralLock final : public LockEnd {
 public:
  EphemeralLock(Scene& scene, Ensemble& ensemble, uint32_t machine) : scene_(scene), ensemble_(ensemble), machine_(machine) {}

  void acquire(std::function<void()> granted) override;
  bool holds() const override { return held_ && connected_; }
  Token token() const override { return held_ ? Token(node_) : Token(); }
  void release() override;

 private:
  // A call on the current connection. Its answer counts only while that connection lasts.
  template <typename There, typename Back>
  void call(There there, Back back);
  void open();
  void received();
  void ping();
  void disconnected();
  void reconnect();
  void expired();
  void create();
  void wait_for_turn();
  void watch(uint64_t node);

  Scene& scene_;
  Ensemble& ensemble_;
  const uint32_t machine_;
  uint64_t session_ = 0;
  uint64_t connection_ = 0;  // answers on older connections are not read
  uint64_t received_ = 0;    // how many messages came; a timer of an older one is void
  bool connected_ = false;
  uint64_t node_ = 0;
  bool held_ = false;
  std::function<void()> granted_;
};

}  // namespace coordkit::sim::compare
