// The lock table: the holds, the waits, and the order in which waits are granted. It is pure and deterministic. It knows
// sessions only as ids (the machine above passes only live ones), and knows nothing about clocks, bytes or the log.
//
// One step is any number of changes, followed by decide_waits(). That call applies the grant rule S-48 of docs/semantics.md
// and forgets locks that became empty. After decide_waits() no waiter is grantable (INV_L06). Work is proportional to the
// claims touched, regardless of what else exists. Only deadlock detection looks further, along the waits that it follows
// (deadlock.h).
//
// This file has the rules of acquiring, waiting and ending. Objects beside it are given the claims and have the other rules.
// They are changes of a hold that stays (hold_changes.h), delegations (delegations.h), lock-delays (delays.h), queries
// (table_view.h) and restoring (table_restore.h). The claims themselves are below them (claims.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "coordkit/types.h"
#include "lock/claims.h"
#include "lock/delays.h"
#include "lock/delegations.h"
#include "lock/grant_order.h"
#include "lock/hold_changes.h"
#include "lock/table_restore.h"
#include "lock/table_view.h"
#include "lock/terms.h"
#include "lock/token_counter.h"

namespace coordkit::lock {

class Table {
 public:
  // ---- changes; decide_waits() ends every step
  AcquireVerdict acquire(const Attempt& attempt, TokenCounter& tokens);
  // Ends one count of the hold, at zero the hold, a multi-lock as a whole. False: NotOwner. `number` names the release, so
  // that a repeated one counts once: the n-th release of a hold includes all before it. Zero: the caller performs it only
  // once.
  bool release(const HoldKey& key, uint64_t number = 0);
  CancelVerdict cancel(SessionId session, std::string_view tag, std::string_view name, const RequestId& acquire,
                       Decisions& decisions);
  // Ends the timed wait that this entry queued; false: it has already ended.
  bool time_out(Index queued, Decisions& decisions);
  // Ends all waits (Lost, oldest first) and holds of a session. INV_L07: afterwards the session has no claim. S-40: if it
  // expired, its locks are delayed as its acquires asked.
  enum class Ending : uint8_t { Closed, Expired };
  void end(SessionId session, Ending how, TokenCounter& tokens, Decisions& decisions);
  void end_waits(SessionId session, Decisions& decisions);  // Lost, oldest first; its holds stay
  // Ends a lock-delay because its time is over, or because an administrator ends it. False: it does not exist.
  bool end_delay(uint64_t id, Decisions& decisions) { return delays_.end(id, claims_, decisions); }
  bool clear_delay(std::string_view name, Decisions& decisions);
  HoldChanges hold_changes() { return HoldChanges(claims_); }
  Delegations delegations() { return Delegations(claims_); }
  // Whether Decisions::led is wanted. Not part of the state.
  void note_leaders(bool wanted) { claims_.notices().want_leaders(wanted); }
  // Grants all waits that became grantable, oldest first over all names. `index` is the entry of the step.
  void decide_waits(Index index, TokenCounter& tokens, Decisions& decisions);
  // Whether decide_waits() would find nothing to do.
  bool nothing_touched() const { return claims_.touched().empty() && claims_.notices().empty(); }

  // ---- queries
  std::optional<AcquireVerdict> refusal(const Attempt& attempt) const;  // the refusal that a try like this one would get now
  TableView view() const { return TableView(claims_); }
  const Delays& delays() const { return delays_; }

  // ---- checkpoint: everything that changed since the previous call, rows in ascending order of their ids
  void collect(Claims::Visitor put, Delays::Visitor put_delay, absl::FunctionRef<void(RowId)> erase);
  void forget_stored();  // the next collect() puts every row
  TableRestore restore() { return {claims_, delays_}; }

  uint64_t digest() const { return claims_.digest() + delays_.digest(); }
  uint64_t recomputed_digest() const { return claims_.recomputed_digest() + delays_.recomputed_digest(); }

 private:
  Claim* own_claim(const Attempt& attempt) const;
  std::optional<AcquireVerdict> refused_try(const Attempt& attempt) const;
  std::optional<AcquireVerdict> refusal_at_rest(const Wanted& wanted, const Attempt& attempt) const;
  void grant(Claim& wait, Token token, Index index, TokenCounter& tokens);

  Claims claims_;
  Delays delays_;
  GrantOrder order_;
};

}  // namespace coordkit::lock
