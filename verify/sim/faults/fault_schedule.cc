#include "sim/faults/fault_schedule.h"

namespace coordkit::sim {

FaultSchedule::FaultSchedule(World& world, const Plan& plan, const Reduction& reduction, Random& random)
    : world_(world), plan_(plan), reduction_(reduction) {
  for (size_t i = 0; i < plan.faults.size(); ++i) schedules_.push_back(random.fork());
}

void FaultSchedule::begin() {
  for (uint64_t number = 0; number < plan_.faults.size(); ++number) plan_next(number);
}

void FaultSchedule::plan_next(uint64_t number) {
  const Duration mean = plan_.faults[number].interval;
  world_.schedule(world_.now() + mean / 4 + Duration(schedules_[number].below(mean.count() * 3 / 2)), EventKind::FaultBegin,
                  kNoNode, 0, number);
}

FaultSchedule::Strike FaultSchedule::come_up(uint64_t number) {
  const FaultPlan& fault = plan_.faults[number];
  const Duration length(schedules_[number].between(fault.length_min.count(), fault.length_max.count()));
  const Random random = schedules_[number].fork();
  ++come_up_;
  return {fault.kind, length, random, !reduction_.strikes(fault.kind, come_up_)};
}

void FaultSchedule::count(FaultKind kind) {
  ++counts_[static_cast<size_t>(kind)];
  struck_.push_back(come_up_);
}

void FaultSchedule::fill(Report& report) const {
  report.strikes = come_up_;
  report.struck = struck_;
  report.faults = counts_;
}

}  // namespace coordkit::sim
