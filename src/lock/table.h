// The lock table: who holds what, who waits for what, who is next. Pure and deterministic; of sessions it knows only the ids
// (the machine above passes only live ones), and nothing of clocks, bytes or the log.
//
// One step is: any number of changes, then decide_waits(), which applies the grant rule S-48 of docs/semantics.md and forgets
// locks that became empty. After decide_waits() no waiter is grantable (INV_L06). Work is proportional to the claims touched,
// regardless of what else exists; only deadlock detection looks further, along the waits it follows (deadlock.h).
//
// Memory: a lock with one owner and no waiters is kept small (resting.h). It gets records when something happens to
// it, and gives them up in decide_waits() when it is that plain again.
//
// Implemented by concern: table.cc (acquire, release, grants), table_holds.cc (changes of a hold that stays), table_sticky.cc
// (delegations), table_records.cc
// (how records are linked), table_rows.cc (queries and checkpoints).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/types.h"
#include "lock/claim.h"
#include "lock/claim_view.h"
#include "lock/resting.h"
#include "lock/terms.h"
#include "lock/token_counter.h"

namespace coordkit::lock {

class Table {
 public:
  using Visitor = absl::FunctionRef<void(const ClaimView&)>;
  using WhileVisitor = absl::FunctionRef<bool(const ClaimView&)>;  // false: enough
  using DelayVisitor = absl::FunctionRef<void(const DelayView&)>;
  struct Counts {
    uint32_t holds = 0;
    uint32_t waiters = 0;
  };

  Table();
  ~Table();
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;

  // ---- changes; decide_waits() ends every step
  AcquireVerdict acquire(const Attempt& attempt, TokenCounter& tokens);
  // Ends one count of the hold, at zero the hold, a multi-lock as a whole. False: NotOwner. `number` names the release, so that
  // the same one performed twice counts once: the n-th of a hold includes all before it. Zero: it is performed only once.
  bool release(const HoldKey& key, uint64_t number = 0);
  CancelVerdict cancel(SessionId session, std::string_view tag, std::string_view name, const RequestId& acquire,
                       Decisions& decisions);
  // Ends the timed wait that this entry queued; false: it has already ended.
  bool time_out(Index queued, Decisions& decisions);
  // Ends all waits (Lost, oldest first) and holds of a session. INV_L07: afterwards nothing of it remains. S-40: if it expired,
  // the locks it held are delayed as its acquires asked.
  enum class Ending : uint8_t { Closed, Expired };
  void end(SessionId session, Ending how, TokenCounter& tokens, Decisions& decisions);
  void end_waits(SessionId session, Decisions& decisions);  // Lost, oldest first; its holds stay
  // Ends a lock-delay because its time is over, or because an administrator ends it. False: there is none.
  bool end_delay(uint64_t id, Decisions& decisions);
  bool clear_delay(std::string_view name, Decisions& decisions);
  // S-46. A new token; the previous one is dead.
  ModeVerdict downgrade(const HoldKey& key, Index index, TokenCounter& tokens);
  ModeVerdict upgrade(const HoldKey& key, Index index, TokenCounter& tokens);
  bool update_value(const HoldKey& key, std::string_view value);  // false: NotOwner
  // S-58: another block for a delegation, which stays; `key` has the token of its hold. Its first token; nothing: NotOwner.
  std::optional<Token> refill(const HoldKey& key, TokenCounter& tokens);
  // Replaces all holds of a session by new ones, in the same order: the session moves to another process, and the tokens that
  // the previous one has are dead. Delegations get new blocks, because what was used of them is not known. S-45.
  void regrant_all(SessionId session, Index index, TokenCounter& tokens);
  // S-54: like held(), but as a guard: showing a token of a delegation retires those before it.
  std::optional<Mode> put_forward(std::string_view name, Token token);
  // Whether Decisions::led is wanted. Not part of the state.
  void note_leaders(bool wanted) { notes_leaders_ = wanted; }
  // Grants what became grantable, oldest wait first over all names. `index` is the entry of the step.
  void decide_waits(Index index, TokenCounter& tokens, Decisions& decisions);

  // ---- queries
  size_t names() const { return locks_.size() + resting_.size(); }
  size_t claims() const { return claims_.size() + resting_.size(); }
  std::optional<AcquireVerdict> refusal(const Attempt& attempt) const;  // of a try like this one, if made now
  bool would_ask(const Attempt& attempt) const;                         // S-58: it would be the first to ask for the delegation
  uint32_t waiting(std::string_view name) const;
  bool delayed(std::string_view name) const;
  bool free(std::string_view name) const;                       // S-54: no hold
  void holders(std::string_view name, Visitor visit) const;     // in grant order
  void queue(std::string_view name, WhileVisitor visit) const;  // first waiter first
  // Hold or wait. An owner may have a sticky claim on a name beside another claim, which waits for the delegation to end.
  std::optional<ClaimView> claim(std::string_view name, SessionId session, std::string_view tag,
                                 ClaimKind kind = ClaimKind::Plain) const;
  // The mode, if a hold with this token is on this lock, or a delegation whose current token it may be.
  std::optional<Mode> held(std::string_view name, Token token) const;
  Counts counts(SessionId session) const;
  std::vector<ClaimView> holds_of(SessionId session) const;            // in grant order
  void timed_waits(Visitor visit) const;                               // in queueing order
  void delays(DelayVisitor visit) const;                               // ascending ids
  void every_session(absl::FunctionRef<void(SessionId)> visit) const;  // with a claim; unordered: only for checks

  // ---- checkpoint: what changed since the previous call, rows in ascending order of their ids
  void collect(Visitor put, DelayVisitor put_delay, absl::FunctionRef<void(RowId)> erase);
  void forget_stored();  // the next collect() puts every row
  // Adds one row to an empty or half-restored table: delays, then holds, then waiters, each in ascending order. kDataLoss:
  // impossible.
  absl::Status restore(const ClaimView& row);
  absl::Status restore(const DelayView& row);
  absl::Status restored() const;  // kDataLoss: the rows contradict each other (INV_L06)

  uint64_t digest() const { return digest_; }
  uint64_t recomputed_digest() const;

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
    const Lock* lock;
    const Owner* owner;
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
  using Records = absl::flat_hash_set<std::unique_ptr<Record>, Keyed, Keyed>;
  struct OfSession {
    OwnerList owners;
    Counts counts;
  };
  struct Delay {
    Lock* lock = nullptr;
    Duration duration{};
    bool stored = false;  // its row is in the checkpoint
  };

  static ClaimKind kind_of(const Claim& claim) { return claim.block ? ClaimKind::Sticky : ClaimKind::Plain; }
  Claim* own_claim(const Attempt& attempt) const;
  std::optional<AcquireVerdict> refused_try(const Attempt& attempt) const;
  Claim* find_hold(const HoldKey& key) const;
  Claim* find_convertible(const HoldKey& key, Mode from, ModeVerdict& verdict);
  ModeVerdict convert(Claim& claim, Mode mode, Index index, TokenCounter& tokens);
  void regrant(Claim& claim, Token token, Index index, TokenCounter& tokens);
  enum class Which : uint8_t { All, Waits };
  std::vector<Claim*> claims_of(SessionId session, Which which) const;
  void begin_delay(Lock& lock, Duration duration, TokenCounter& tokens, Decisions& decisions);

  static void reserve(Block& block, Token first, TokenCounter& tokens);
  static absl::Status check_block(const ClaimView& row);
  Claim* delegation(std::string_view name) const;
  Claim* find_delegation(const HoldKey& key) const;
  void ask(Lock& lock);
  void ask(const Attempt& attempt);

  // At rest or with records: a lock is one or the other.
  bool grant_at_rest(const Attempt& attempt, Token token);
  void end_at_rest(Resting::Handle handle);
  void regrant_at_rest(Resting::Handle handle, Token token, Index index);
  Lock* wake(std::string_view name);
  bool put_to_rest(Lock& lock);
  std::optional<AcquireVerdict> refusal_at_rest(const Wanted& wanted, const Attempt& attempt) const;

  Lock* find(std::string_view name) const;
  Claim* find(const Lock& lock, const Owner& owner, ClaimKind kind) const;
  Claim* find(const Lock& lock, SessionId session, std::string_view tag, ClaimKind kind) const;
  Lock& lock_of(std::string_view name);
  Owner& owner_of(SessionId session, std::string_view tag);
  Claim& add(const ClaimView& row);
  void hold(Claim& claim, Token token, Index index, TokenCounter& tokens);
  void remove(Claim& claim);
  void drop(Claim& claim);
  void forget(Owner& owner);
  void touch(Lock& lock);
  void note_leader(std::string_view name) {
    if (notes_leaders_) led_.emplace_back(name);
  }
  // Changes something in the claim's row.
  template <typename Change>
  void rewrite(Claim& claim, Change change);
  void changed(Claim& claim);
  void unchanged(Claim& claim);
  void forget_row(Claim& claim);
  absl::Status check(const ClaimView& row) const;
  absl::Status check_place(const ClaimView& row, const Wanted& place);

  Resting resting_;
  Records<Lock> locks_;
  Records<Owner> owners_;
  Records<Claim> claims_;                                 // by owner and first lock
  absl::flat_hash_map<PlaceKey, Claim*> further_places_;  // of multi-locks, by owner and lock: all but the first
  absl::flat_hash_map<Token, Claim*> holds_;
  absl::flat_hash_map<SessionId, OfSession> sessions_;  // those with a claim
  absl::btree_map<Index, Claim*> waiters_;              // by Claim::since
  absl::btree_map<uint64_t, Delay> delays_;
  std::vector<Lock*> touched_;    // in this step, each once
  std::vector<std::string> led_;  // Decisions::led of this step
  bool notes_leaders_ = false;
  std::vector<Asked> asked_;                          // Decisions::asked of this step
  std::vector<std::pair<Index, Claim*>> candidates_;  // scratch of decide_waits()
  std::vector<Claim*> dirty_;                         // changed since the last collect()
  std::vector<RowId> erased_;                         // stored rows that are gone since then
  Token last_restored_;                               // of a hold
  uint64_t digest_ = 0;                               // sum of the hashes of claims and delays
};

template <typename Change>
void Table::rewrite(Claim& claim, Change change) {
  digest_ -= claim_hash(view_of(claim));
  change(claim);
  digest_ += claim_hash(view_of(claim));
  changed(claim);
}

}  // namespace coordkit::lock
