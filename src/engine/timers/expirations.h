// The leader's proposals for expired timers (docs/time.md T4 to T7): when they may be made, and their outcome.
#pragma once

#include <optional>

#include "absl/container/btree_map.h"
#include "engine/loop/consensus.h"
#include "engine/loop/turn_clock.h"
#include "engine/timers/timer_keeper.h"

namespace coordkit::engine {

class Expirations {
 public:
  explicit Expirations(const EngineOptions& options) : options_(options) {}

  TimerKeeper& timers() { return timers_; }
  const TimerKeeper& timers() const { return timers_; }

  // T6: the leader stood still. So did its timers, and nothing expires before the question under this ticket is answered.
  void stood_still(const TurnClock::Gap& gap, Ticket leadership_question);
  void leadership_confirmed(Ticket question);

  // Many deaths at once take several turns, so that live sessions are served in between (F-26).
  void propose(Turn& turn);
  void decided(const raft::ProposalOutcome& outcome, LaggingTime now);
  void stop() { timers_.follow(); }
  void leadership_changed();
  LaggingTime next_deadline() const;

 private:
  const EngineOptions& options_;
  TimerKeeper timers_;
  absl::btree_map<Ticket, FireTimers> proposed_;    // their place in the log is not known yet
  LaggingTime propose_again_ = LaggingTime::min();  // the log had no room
  std::optional<Ticket> question_;                  // T6
};

}  // namespace coordkit::engine
