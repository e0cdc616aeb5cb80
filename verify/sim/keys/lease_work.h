// Workers' use of leases of keys (docs/semantics.md S-29 to S-33). A worker keeps at most one, which ends with its process or
// is released; others are only granted. All ids are known to all workers, so any of them renews, revokes and reads them,
// attaches keys to them, and does so after their end.
#pragma once

#include <vector>

#include "sim/keys/lease_observer.h"
#include "sim/oracle/witness.h"
#include "sim/plan.h"
#include "sim/users/worker_calls.h"

namespace coordkit::sim {

class LeaseWork {
 public:
  LeaseWork(WorkerCalls& calls, const WorkPlan& work, LeaseObserver& observer, Witness& witness)
      : calls_(calls), work_(work), observer_(observer), witness_(witness) {}

  void act(Worker& worker);
  void give_back(Worker& worker);  // the one it keeps
  bool knows_any() const { return !ids_.empty(); }
  LeaseId known(Worker& worker) const;

 private:
  void keep(Worker& worker);
  void grant(Worker& worker);
  void renew(Worker& worker, LeaseId id);
  void revoke(Worker& worker, LeaseId id);
  void look_at(Worker& worker, LeaseId id);
  void list(Worker& worker);
  void know(LeaseId id);

  WorkerCalls& calls_;
  const WorkPlan& work_;
  LeaseObserver& observer_;
  Witness& witness_;
  std::vector<LeaseId> ids_;  // the newest known to any worker
  uint64_t chosen_ = 0;
};

}  // namespace coordkit::sim
