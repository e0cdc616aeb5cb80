#include "bench/skeleton/callers.h"

#include "absl/status/status.h"

namespace coordkit::bench::skeleton {

void Callers::begin(std::vector<Record>& commands) {
  for (uint32_t number = 0; number < callers_.size(); ++number) acquire(number, commands);
}

void Callers::answered(const Answer& answer, std::vector<Record>& commands) {
  if (!answer.agreed) loop_.error(absl::InternalError("a release was refused"));
  Caller& caller = callers_[answer.caller];
  if (!caller.holds) return release(answer.caller, commands);
  caller.holds = false;
  if (want_ == Want::OwnLock) loop_.cycle(caller.started, Clock::now());
  acquire(answer.caller, commands);
}

void Callers::acquire(uint32_t number, std::vector<Record>& commands) {
  if (loop_.over()) {
    --running_;
    return loop_.caller_ended();
  }
  callers_[number].started = Clock::now();
  commands.push_back(record(Step::Acquire, number));
}

void Callers::release(uint32_t number, std::vector<Record>& commands) {
  callers_[number].holds = true;
  if (want_ == Want::OneLock) {
    // Who let go knows it a little later than the next one holds.
    if (released_ != TimePoint{}) loop_.cycle(released_, Clock::now());
    released_ = Clock::now();
  }
  commands.push_back(record(Step::Release, number));
}

Record Callers::record(Step step, uint32_t number) const {
  return {.step = step, .caller = number, .lock = want_ == Want::OneLock ? 0 : number, .holder = uint64_t{number} + 1};
}

}  // namespace coordkit::bench::skeleton
