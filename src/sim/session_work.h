// Sessions: opened, shared by several workers of a process, closed; and those that change hands or are ended by others: what a
// supervisor and an administrator do (docs/semantics.md S-45, S-57). A program saves its session when it opens it; after its
// process died, or because it is wrongly believed dead, another process takes the session over.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/lock_observer.h"
#include "sim/plan.h"
#include "sim/protected_resources.h"
#include "sim/witness.h"
#include "sim/worker_calls.h"

namespace coordkit::sim {

class SessionWork {
 public:
  SessionWork(WorkerCalls& calls, const WorkPlan& work, const std::vector<Worker>& workers, ProtectedResources& resources,
              LockObserver& locks, Witness& witness)
      : calls_(calls), work_(work), workers_(workers), resources_(resources), locks_(locks), witness_(witness) {}

  void open(Worker& worker);
  void close(Worker& worker);
  bool resume(Worker& worker);  // false: there is nothing to resume
  void end_another(Worker& worker);

 private:
  // What a program saved so that the session can be taken over; and every process that ever asked for it.
  struct SavedSession {
    SessionId session;
    std::string secret;
    std::vector<std::pair<uint32_t, uint64_t>> processes;  // node, epoch
  };
  bool borrow(Worker& worker);
  void save(Worker& worker);
  bool runs(const std::pair<uint32_t, uint64_t>& process) const { return calls_.epoch(process.first) == process.second; }

  WorkerCalls& calls_;
  const WorkPlan& work_;
  const std::vector<Worker>& workers_;
  ProtectedResources& resources_;
  LockObserver& locks_;
  Witness& witness_;
  std::vector<SavedSession> saved_;
};

}  // namespace coordkit::sim
