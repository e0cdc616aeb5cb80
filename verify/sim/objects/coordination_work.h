// Workers' use of semaphores, latches, barriers, double barriers, claim queues, counters and groups: two objects of each kind
// for all of them. Every command is reported to the witness in the machine's own form before the client sends it.
#pragma once

#include <string>

#include "sim/oracle/witness.h"
#include "sim/plan.h"
#include "sim/users/worker_calls.h"

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
  void await_opening(Worker& worker, coordination::Kind kind, const std::string& name);
  void use_double_barrier(Worker& worker);
  void use_queue(Worker& worker);
  void use_counter(Worker& worker);
  void use_group(Worker& worker);
  void look(Worker& worker);
  void look_for_leader(Worker& worker, CallDeadline by);

  uint64_t command(Worker& worker, CallKind kind, const std::string& name, machine::CoordinationCommand body);
  // The callback of a command. Count: its success is no situation to be counted.
  auto on_answer(Worker& worker, uint64_t call, Situation situation = Situation::Count);
  Callback<HoldRef> got_hold(Worker& worker, uint64_t call, coordination::Kind kind, Situation situation);

  WorkerCalls& calls_;
  const WorkPlan& work_;
  Witness& witness_;
};

}  // namespace coordkit::sim
