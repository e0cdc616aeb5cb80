// What workers do with semaphores, latches, barriers, double barriers, claim queues, counters and groups: two objects of each
// kind for all of them. Every command is reported to the witness in the machine's own form before the client sends it.
#pragma once

#include <string>

#include "sim/plan.h"
#include "sim/witness.h"
#include "sim/worker_calls.h"

namespace coordkit::sim {

class CoordinationWork {
 public:
  CoordinationWork(WorkerCalls& calls, const WorkPlan& work, Witness& witness)
      : calls_(calls), work_(work), witness_(witness) {}

  void act(Worker& worker);  // it has a session
  void give_back(Worker& worker);

 private:
  void use_semaphore(Worker& worker);
  void use_latch(Worker& worker);
  void use_barrier(Worker& worker);
  void use_double_barrier(Worker& worker);
  void use_queue(Worker& worker);
  void use_counter(Worker& worker);
  void use_group(Worker& worker);
  void look(Worker& worker);
  void look_for_leader(Worker& worker, CallDeadline by);

  uint64_t command(Worker& worker, Witness::Kind kind, const std::string& name, machine::CoordinationCommand body);
  // The answer of a command: what the log must say if it succeeded, and what the worker does then.
  DoneCallback done_as(Worker& worker, uint64_t call, Situation situation);
  template <typename T, typename Matches>
  Callback<T> told(Worker& worker, uint64_t call, Matches matches, Situation situation);
  Callback<HoldRef> got_hold(Worker& worker, uint64_t call, coordination::Kind kind, Situation situation);

  WorkerCalls& calls_;
  const WorkPlan& work_;
  Witness& witness_;
};

}  // namespace coordkit::sim
