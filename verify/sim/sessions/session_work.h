// Sessions: opened, shared by several workers of a process, closed; and those that change hands or are ended by others: what a
// supervisor and an administrator do (docs/semantics.md S-45, S-57). A program saves its session when it opens it; after its
// process died, or because it is wrongly believed dead, another process takes the session over.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/locks/lock_observer.h"
#include "sim/locks/protected_resources.h"
#include "sim/oracle/witness.h"
#include "sim/plan.h"
#include "sim/users/worker_calls.h"

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
  struct Process {
    uint32_t node = 0;
    uint64_t epoch = 0;
    std::optional<Generation> asked;  // for the session when its replica knew this generation; none: opened it
  };
  // Saved by a program so that the session can be taken over; and every process that ever asked for it.
  struct SavedSession {
    SessionId session;
    std::string secret;
    std::vector<Process> processes;
  };
  bool borrow(Worker& worker);
  void save(Worker& worker);
  SavedSession& choose(Random& random);
  // By what a replica knows that has this generation of the session.
  bool runs(const SavedSession& saved, Generation known) const;

  WorkerCalls& calls_;
  const WorkPlan& work_;
  const std::vector<Worker>& workers_;
  ProtectedResources& resources_;
  LockObserver& locks_;
  Witness& witness_;
  std::vector<SavedSession> saved_;
  SessionId vouched_for_;  // whose process was last said to be gone
};

}  // namespace coordkit::sim
