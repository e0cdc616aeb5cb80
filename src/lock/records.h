// The records of all locks that are not at rest: how they are found, linked and forgotten. No rules, no digest, no rows:
// whoever adds, grants or drops a claim here answers for those (claims.h).
//
// A lock's record exists while it has a claim or a delay, an owner's while it has a claim. Addresses stay as long as the
// record.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "coordkit/types.h"
#include "lock/claim.h"
#include "lock/terms.h"

namespace coordkit::lock {

class Records {
 public:
  Records();
  ~Records();
  Records(Records&&) noexcept;
  Records& operator=(Records&&) noexcept;

  // ---- found by key; null: there is none
  Lock* find(std::string_view name) const;
  Owner* find(SessionId session, std::string_view tag) const;
  Claim* find(const Lock& lock, const Owner& owner, ClaimKind kind) const;
  Claim* find(const Lock& lock, SessionId session, std::string_view tag, ClaimKind kind) const;
  Claim* find_hold(Token token) const;
  Claim* find_hold(const HoldKey& key) const;
  Claim* find_wait(Index queued) const;
  Claim* find_delegation(std::string_view name) const;  // S-58: the sticky hold of this lock

  // ---- all of them
  size_t locks() const { return locks_.size(); }
  size_t claims() const { return claims_.size(); }
  std::vector<Claim*> waits_of(SessionId session) const;  // in queueing order
  std::vector<Claim*> holds_of(SessionId session) const;  // in grant order
  ClaimCounts counts(SessionId session) const;
  const absl::btree_map<Index, Claim*>& waits() const { return waits_; }
  void each_claim(absl::FunctionRef<void(Claim&)> visit) const;       // unordered
  void each_session(absl::FunctionRef<void(SessionId)> visit) const;  // with a claim; unordered

  // ---- changes
  Lock& lock(std::string_view name);  // new, unless it is there
  void forget(const Lock& lock);      // without claims
  // At the end of its queues, or as a hold.
  Claim& add(const ClaimView& row);
  // Turns a wait into a hold, on all of its names; regrant() makes a hold the newest of its locks. The claim gets that token,
  // and whatever else is new about it, from the caller.
  void grant(Claim& wait, Token token);
  void regrant(Claim& hold, Token token);
  void remove(Claim& claim);

 private:
  struct OwnerKey {
    SessionId session;
    std::string_view tag;
    friend bool operator==(const OwnerKey&, const OwnerKey&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const OwnerKey& key) {
      return H::combine(std::move(state), key.session, key.tag);
    }
  };
  struct PlaceKey {
    const Lock* lock = nullptr;
    const Owner* owner = nullptr;
    ClaimKind kind = ClaimKind::Plain;
    friend bool operator==(const PlaceKey&, const PlaceKey&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const PlaceKey& key) {
      return H::combine(std::move(state), key.lock, key.owner, key.kind);
    }
  };
  // Hashes and compares records by their keys, and finds them by key alone.
  struct Keyed {
    using is_transparent = void;
    static std::string_view key(const std::unique_ptr<Lock>& lock) { return lock->name.view(); }
    static OwnerKey key(const std::unique_ptr<Owner>& owner) { return {owner->session, owner->tag.view()}; }
    static PlaceKey key(const std::unique_ptr<Claim>& claim) { return {&claim->lock(), claim->owner, kind_of(*claim)}; }
    static const auto& key(const auto& itself) { return itself; }
    size_t operator()(const auto& of) const { return absl::HashOf(key(of)); }
    bool operator()(const auto& a, const auto& b) const { return key(a) == key(b); }
  };
  template <typename Record>
  using Set = absl::flat_hash_set<std::unique_ptr<Record>, Keyed, Keyed>;
  struct OfSession {
    OwnerList owners;
    ClaimCounts counts;
  };

  static ClaimKind kind_of(const Claim& claim) { return claim.block ? ClaimKind::Sticky : ClaimKind::Plain; }
  template <typename Order>
  std::vector<Claim*> claims_of(SessionId session, ClaimList Owner::*list, Order order) const;
  Owner& owner(SessionId session, std::string_view tag);
  void link(Claim& claim, Place& place);
  void forget(Owner& owner);

  Set<Lock> locks_;
  Set<Owner> owners_;
  Set<Claim> claims_;                                     // by owner and first lock
  absl::flat_hash_map<PlaceKey, Claim*> further_places_;  // of multi-locks, by owner and lock: all but the first
  absl::flat_hash_map<Token, Claim*> holds_;
  absl::flat_hash_map<SessionId, OfSession> sessions_;  // those with a claim
  absl::btree_map<Index, Claim*> waits_;                // by Claim::since
};

}  // namespace coordkit::lock
