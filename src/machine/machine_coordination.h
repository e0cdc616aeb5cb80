// The machine's semaphores, barriers and the like: commands to the tables of src/coordination, verdicts to results, and what
// changed to those who observe it, elections included.
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
  Answer cancel(SessionId session, const RequestId& request, ApplyStep& step);  // nothing: it neither waits nor holds
  void end(SessionId session, ApplyStep& step);
  void end_waits(SessionId session, coordination::Waiter waiter, ApplyStep& step);
  void regrant(SessionId session, ApplyStep& step);
  void time_out(const FiredTimer& timer, ApplyStep& step);  // of a wait or a claim
  void decide_waits(ApplyStep& step);
  // Whether it would find nothing to do.
  bool nothing_touched() const {
    return state_.coordination.nothing_touched() && decisions_.empty() && timers_.empty() && changes_.empty();
  }

  // Here; not replicated.
  void observe(std::string_view subject, bool wanted);
  void note_leaders();  // tells the locks whether anything is observed; again when the state is another one
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
  // Of one entry:
  std::vector<coordination::Decision> decisions_;
  std::vector<coordination::Change> changes_;
  std::vector<coordination::ClaimTimer> timers_;
  absl::btree_set<std::string> led_;  // locks whose exclusive holder changed, if somebody observes that
};

}  // namespace coordkit::machine
