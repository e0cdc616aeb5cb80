// The users of the cluster: workers on every node that open sessions, contend for a few locks, and write to the resources these
// protect. They put, get and erase a few keys, too - all through the public Client. A worker's next action is drawn here; its
// parts know how that is done with each kind of primitive.
#pragma once

#include <memory>
#include <vector>

#include "coordkit/sim/situations.h"
#include "sim/keys/key_work.h"
#include "sim/keys/lease_observer.h"
#include "sim/keys/lease_work.h"
#include "sim/locks/lock_observer.h"
#include "sim/locks/lock_work.h"
#include "sim/locks/protected_resources.h"
#include "sim/nodes/caller.h"
#include "sim/objects/coordination_work.h"
#include "sim/oracle/witness.h"
#include "sim/plan.h"
#include "sim/sessions/session_work.h"
#include "sim/users/worker_calls.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Workload {
 public:
  Workload(World& world, const Plan& plan, const Defects& defects, const Callers& nodes, LockObserver& locks,
           LeaseObserver& leases, Witness& witness, SituationCounts& situations, Random random);
  Workload(const Workload&) = delete;  // callbacks refer to its parts
  Workload& operator=(const Workload&) = delete;

  void process_started(uint32_t node);
  void process_died(uint32_t node);
  void process_resumed(uint32_t node);

  void worker_event(const Event& event);
  void resource_event(const Event& event) { resources_.event(event); }

  // No new work: workers release what they hold and end.
  void wind_down() { winding_down_ = true; }
  bool idle() const;

 private:
  void act(Worker& worker);
  void act_idle(Worker& worker);
  void act_calling(Worker& worker);
  void act_holding(Worker& worker);
  void act_winding_down(Worker& worker);

  const WorkPlan& work_;
  const Callers& nodes_;
  LockObserver& locks_;
  LeaseObserver& leases_;
  Witness& witness_;
  std::vector<Worker> workers_;  // never grows: callbacks refer to its elements
  WorkerCalls calls_;
  ProtectedResources resources_;
  LockWork lock_work_;
  SessionWork session_work_;
  LeaseWork lease_work_;
  KeyWork key_work_;
  CoordinationWork coordination_work_;
  bool winding_down_ = false;
};

}  // namespace coordkit::sim
