// Workers' use of keys: single puts, reads and deletes; and everything else that keys offer. That is present and past ranges,
// keys that go with a session or a lease, numbered keys, deletes of intervals, and transactions within transactions. The second
// group has keys of its own, so that the black-box check knows everything that happens to the others.
#pragma once

#include <string>
#include <vector>

#include "sim/keys/lease_work.h"
#include "sim/locks/protected_resources.h"
#include "sim/oracle/witness.h"
#include "sim/plan.h"
#include "sim/users/worker_calls.h"

namespace coordkit::sim {

class KeyWork {
 public:
  KeyWork(WorkerCalls& calls, const WorkPlan& work, uint64_t workers, LeaseWork& leases, const ProtectedResources& resources,
          Witness& witness)
      : calls_(calls), work_(work), workers_(workers), leases_(leases), resources_(resources), witness_(witness) {}

  void act(Worker& worker);
  void get(Worker& worker, Consistency consistency);

 private:
  void act_further(Worker& worker);
  void put(Worker& worker);
  void get(Worker& worker);
  void erase(Worker& worker);
  void compact(Worker& worker);
  void put_entry(Worker& worker);
  void erase_entries(Worker& worker);
  void range(Worker& worker);
  void transact(Worker& worker);

  std::string key(Worker& worker);
  std::string shared_key(Worker& worker);
  LeaseId draw_lease(Worker& worker);
  Compare draw_lock_compare(Worker& worker);
  WriteOptions draw_options(Worker& worker);
  RangeOperation draw_range(Worker& worker, bool past);
  Compare draw_compare(Worker& worker);
  Operation draw_operation(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys);
  Transaction draw_transaction(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys);

  WorkerCalls& calls_;
  const WorkPlan& work_;
  const uint64_t workers_;
  LeaseWork& leases_;
  const ProtectedResources& resources_;
  Witness& witness_;
  Revision newest_;  // known to any worker
};

}  // namespace coordkit::sim
