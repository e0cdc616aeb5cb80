// The machine's semaphores, barriers and the like. It passes commands to the tables of src/coordination, turns verdicts into
// results, and announces changes to their observers, elections included.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "base/flat_table.h"
#include "machine/command.h"
#include "machine/queued_answers.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineCoordination {
 public:
  explicit MachineCoordination(State& state) : state_(state) {}

  Answer execute(CoordinationCommand& command, ApplyStep& step);

  bool release(SessionId session, std::string_view name, Token token, ApplyStep& step);
  Answer cancel(SessionId session, const RequestId& request, ApplyStep& step);  // nullopt: it neither waits nor holds
  void end(SessionId session, ApplyStep& step);
  void end_waits(SessionId session, coordination::Waiter waiter, ApplyStep& step);
  void regrant(SessionId session, ApplyStep& step);
  void time_out(const FiredTimer& timer, ApplyStep& step);  // of a wait or of a claim
  void decide_waits(ApplyStep& step);
  // Whether decide_waits() would find nothing to do.
  bool nothing_touched() const {
    return state_.coordination.nothing_touched() && decisions_.empty() && timers_.empty() && changes_.empty();
  }

  // Affects this replica only; not replicated.
  void observe(std::string_view subject, bool wanted);
  void note_leaders();  // tells the locks whether anything is observed; called again after the state was replaced
  void leader_changed(const std::string& name);  // the exclusive holder of a lock, or its value
  void announce_leaders(ApplyStep& step);        // ends every entry

  void queued_results(std::span<const RequestId> requests, QueuedAnswers& answers) const;
  void timers(std::vector<TimerOp>& out) const;

 private:
  template <typename Run>
  auto coordinate(const ApplyStep& step, Run run);
  bool observed(coordination::Kind kind, std::string_view name) const;

  State& state_;
  FlatSet<std::string> observed_;
  // ---- of one entry
  std::vector<coordination::Decision> decisions_;
  std::vector<coordination::Change> changes_;
  std::vector<coordination::ClaimTimer> timers_;
  absl::btree_set<std::string> led_;  // observed locks whose exclusive holder changed
};

}  // namespace coordkit::machine
