// The machine as the entrance to the lock table: it passes commands on to the table and turns its verdicts into answers.
#pragma once

#include <span>

#include "machine/command.h"
#include "machine/objects/machine_coordination.h"
#include "machine/queued_answers.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineLocks {
 public:
  MachineLocks(State& state, MachineCoordination& coordination) : state_(state), coordination_(coordination) {}

  // The caller must decide the waits for them before it executes the request.
  void perform_prior_releases(const Request& request, ApplyStep& step);

  Answer execute(Acquire& acquire, ApplyStep& step);
  Answer execute(AcquireAll& acquire, ApplyStep& step);
  Answer execute(Release& release, ApplyStep& step);
  Answer execute(CancelAcquire& cancel, ApplyStep& step);
  Answer execute(Downgrade& downgrade, ApplyStep& step);
  Answer execute(Upgrade& upgrade, ApplyStep& step);
  Answer execute(UpdateValue& update, ApplyStep& step);
  Answer execute(ClearDelay& clear, ApplyStep& step);
  Answer execute(RefillBlock& refill, ApplyStep& step);

  // Answers acquires that were queued; says nothing about requests that are over or are no acquires.
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
