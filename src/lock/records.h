// The records of all locks that are not at rest: how they are found, linked and forgotten. This class has no rules, no digest
// and no rows. Its caller is responsible for those when it adds, grants or drops a claim here (claims.h).
//
// A lock's record exists while it has a claim or a delay, an owner's while it has a claim. Addresses stay valid as long as
// the record.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "base/flat_table.h"
#include "base/handle_key.h"
#include "base/handle_pool.h"
#include "base/spare_nodes.h"
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

  // ---- found by key; null: not found
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
  size_t claims() const { return holds_.size() + waits_.size(); }
  std::vector<Claim*> waits_of(SessionId session) const;  // in queueing order
  std::vector<Claim*> holds_of(SessionId session) const;  // in grant order
  ClaimCounts counts(SessionId session) const;
  void each_wait(absl::FunctionRef<void(const Claim&)> visit) const;  // in queueing order
  void each_claim(absl::FunctionRef<void(Claim&)> visit) const;       // unordered
  void each_session(absl::FunctionRef<void(SessionId)> visit) const;  // with a claim; unordered

  // ---- changes
  Lock& lock(std::string_view name);  // finds or creates the record
  void forget(const Lock& lock);      // for a lock without claims
  // Adds the claim at the end of its queues, or as a hold.
  Claim& add(const ClaimView& row);
  // Turns a wait into a hold, on all of its names. regrant() makes a hold the newest of its locks. The claim gets that token;
  // the caller sets everything else that is new about it.
  void grant(Claim& wait, Token token);
  void regrant(Claim& hold, Token token);
  void remove(Claim& claim);

 private:
  static constexpr uint32_t kChunk = 64;
  using Claims = HandlePool<Claim, kChunk>;
  using Owners = HandlePool<Owner, kChunk>;
  using Handle = Claims::Handle;
  struct ByName {
    using is_transparent = void;
    static std::string_view key(const std::unique_ptr<Lock>& lock) { return lock->name.view(); }
    static std::string_view key(std::string_view name) { return name; }
    size_t operator()(const auto& of) const { return absl::HashOf(key(of)); }
    bool operator()(const auto& a, const auto& b) const { return key(a) == key(b); }
  };
  using OwnerKey = std::pair<SessionId, std::string_view>;
  static OwnerKey owner_key(const Owner& owner) { return {owner.session, owner.tag.view()}; }
  using ByOwner = OrderByKey<Owners, &owner_key>;
  using ByEntry = OrderByKey<Claims, &Claim::since>;
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

  static constexpr uint32_t kPlacesLookedAt = 8;  // an owner with more gets an index

  static ClaimKind kind_of(const Claim& claim) { return claim.block() ? ClaimKind::Sticky : ClaimKind::Plain; }
  Handle handle_of(const Claim& claim) const;
  template <typename Order>
  std::vector<Claim*> claims_of(SessionId session, ClaimList Owner::*list, Order order) const;
  Owner& owner(SessionId session, std::string_view tag);
  void link(Claim& claim, Place& place);
  void join(Owner& owner, Claim& claim);
  void leave(Owner& owner, Claim& claim);

  FlatSet<std::unique_ptr<Lock>, ByName, ByName> locks_;
  std::unique_ptr<Claims> claims_;  // these two are on the heap, because indexes point to them, also after a move
  std::unique_ptr<Owners> owners_;
  absl::btree_set<Handle, ByOwner> owners_by_key_;
  absl::btree_set<Handle, ByEntry> waits_;
  FlatMap<Token, Handle> holds_;
  FlatMap<PlaceKey, Claim*> places_;          // those of owners that are indexed
  FlatMap<SessionId, ClaimCounts> sessions_;  // those with a claim
  std::map<Origin, uint64_t, std::less<Origin>, SpareNodes<OriginUses>> origins_;
};

}  // namespace coordkit::lock
