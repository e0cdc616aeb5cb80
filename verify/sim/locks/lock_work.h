// Workers' use of locks: they acquire one or several, change, read and release them.
#pragma once

#include <string>

#include "sim/locks/lock_observer.h"
#include "sim/oracle/witness.h"
#include "sim/plan.h"
#include "sim/users/worker_calls.h"

namespace coordkit::sim {

class LockWork {
 public:
  LockWork(WorkerCalls& calls, const WorkPlan& work, LockObserver& locks, Witness& witness)
      : calls_(calls), work_(work), locks_(locks), witness_(witness) {}

  void acquire(Worker& worker);
  void acquire_several(Worker& worker);
  // Something with a hold besides releasing it. False: nothing was done.
  bool act_further(Worker& worker);
  void release(Worker& worker);
  void check(Worker& worker);  // its newest hold, by the log
  void query(Worker& worker);

 private:
  void convert(Worker& worker);
  void update_value(Worker& worker);
  bool acquire_here(Worker& worker, const std::string& name, const AcquireOptions& options, uint64_t call);
  bool release_here(Worker& worker, const HoldRef& hold, uint64_t call);
  AcquireOptions acquire_options(Worker& worker, const std::string& label);
  void limit_wait(Worker& worker, AcquireOptions& options);
  template <typename Done>
  auto granted(Worker& worker, Done done);

  WorkerCalls& calls_;
  const WorkPlan& work_;
  LockObserver& locks_;
  Witness& witness_;
};

}  // namespace coordkit::sim
