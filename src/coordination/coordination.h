// The seven tables and their common list of waits as one value. It handles everything that concerns all of them (ends,
// timeouts, cancels, holds by token, rows). Commands go to the tables themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordination/barriers.h"
#include "coordination/claim_queues.h"
#include "coordination/counters.h"
#include "coordination/double_barriers.h"
#include "coordination/groups.h"
#include "coordination/latches.h"
#include "coordination/semaphores.h"
#include "coordination/wait_list.h"

namespace coordkit::coordination {

// Whether a session whose waits end may return and wait again. A double barrier still counts a party that may.
enum class Waiter : uint8_t { MayReturn, IsGone };

struct Coordination {
  Waits waits;
  Semaphores semaphores;
  Latches latches;
  Barriers barriers;
  DoubleBarriers double_barriers;
  ClaimQueues queues;
  Counters counters;
  Groups groups;

  // ---- ends; decide_waits() ends every step
  void end(SessionId session, Step& step);                       // everything of a session (S-39)
  void end_waits(SessionId session, Waiter waiter, Step& step);  // Lost, oldest first; its holds stay
  // S-45: new tokens for permits, places and claims of a session that changes hands, by kind, in the order of the old ones.
  void regrant_all(SessionId session, Step& step);
  bool time_out(Index wait, Step& step);                                 // false: there is no such timed wait
  bool cancel(SessionId session, const RequestId& request, Step& step);  // false: it is not waiting
  // Gives back permits, an item or a place inside a barrier. False: the session has no such hold.
  bool release(SessionId session, std::string_view name, Token token, Step& step);
  // Whether decide_waits() would find nothing to do.
  bool nothing_touched() const {
    return semaphores.nothing_touched() && barriers.nothing_touched() && double_barriers.nothing_touched() &&
           queues.nothing_touched();
  }
  void decide_waits(Step& step);

  // ---- queries
  struct Grant {
    SessionId session;
    Verdict verdict;
  };
  std::optional<Grant> granted(const RequestId& request) const;  // the hold of this request
  bool still_held(std::string_view name, Token token) const;
  void timers(absl::FunctionRef<void(Index wait, Duration timeout)> wait,
              absl::FunctionRef<void(const ClaimTimer&)> claim) const;  // only armed timers
  void every_session(absl::FunctionRef<void(SessionId)> visit) const;   // unordered: only for checks
  uint64_t highest_token() const;

  // ---- rows: visit(Rows<...>&) for each kind
  template <typename Visit>
  void each_rows(Visit visit) {
    visit(waits.rows());
    semaphores.each_rows(visit);
    latches.each_rows(visit);
    barriers.each_rows(visit);
    double_barriers.each_rows(visit);
    queues.each_rows(visit);
    counters.each_rows(visit);
    groups.each_rows(visit);
  }
  template <typename Visit>
  void each_rows(Visit visit) const {
    const_cast<Coordination*>(this)->each_rows([&visit](const auto& rows) { visit(rows); });  // passed on as const
  }
  absl::Status restored();  // after the last restored row. kDataLoss: they contradict each other

  uint64_t digest() const;
  uint64_t recomputed_digest() const;
  size_t records() const;

 private:
  void touch(const Waits::Left& left);
  absl::Status check_waits() const;
};

}  // namespace coordkit::coordination
