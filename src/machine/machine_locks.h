// The machine as the entrance to the lock table: what a command asks of it, and how its verdicts are answered.
#pragma once

#include <span>

#include "machine/command.h"
#include "machine/machine_coordination.h"
#include "machine/queued_answers.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineLocks {
 public:
  MachineLocks(State& state, MachineCoordination& coordination) : state_(state), coordination_(coordination) {}

  void perform_prior_releases(const Request& request, ApplyStep& step);  // whose waits are to be decided before it is executed

  Answer execute(Acquire& acquire, ApplyStep& step);
  Answer execute(AcquireAll& acquire, ApplyStep& step);
  Answer execute(Release& release, ApplyStep& step);
  Answer execute(CancelAcquire& cancel, ApplyStep& step);
  Answer execute(Downgrade& downgrade, ApplyStep& step);
  Answer execute(Upgrade& upgrade, ApplyStep& step);
  Answer execute(UpdateValue& update, ApplyStep& step);
  Answer execute(ClearDelay& clear, ApplyStep& step);
  Answer execute(RefillBlock& refill, ApplyStep& step);

  // Of acquires that were queued; nothing of one that is over, or is none.
  void queued_results(std::span<const RequestId> requests, QueuedAnswers& answers) const;

 private:
  Answer attempt(lock::Attempt&& attempt, ApplyStep& step);

  State& state_;
  MachineCoordination& coordination_;
};

// Reads::refusal_of().
std::optional<Result> refusal_of(const State& state, const Acquire& acquire);
std::optional<Result> refusal_of(const State& state, const AcquireAll& acquire);

}  // namespace coordkit::machine
