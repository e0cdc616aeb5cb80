// The resources that locks protect, one for each lock: writes carry the token of a hold, arrive in any order, and those with an
// old token are refused (docs/semantics.md S-55).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/locks/lock_observer.h"
#include "sim/nodes/caller.h"
#include "sim/plan.h"
#include "sim/users/worker_calls.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class ProtectedResources {
 public:
  struct Write {
    std::string lock;
    Token token;
    LockMode mode = LockMode::Exclusive;
    uint32_t node = 0;   // of the process that writes
    uint64_t epoch = 0;  // of the process that writes
    SessionId session;
    Index held;           // the entry by which it had the lock
    bool unsent = false;  // still with a thread that asked valid(), which pauses and dies with its process
  };

  ProtectedResources(World& world, const WorkPlan& work, const Defects& defects, const Callers& nodes, LockObserver& locks,
                     WorkerCalls& calls)
      : world_(world), work_(work), defects_(defects), nodes_(nodes), locks_(locks), calls_(calls) {}

  void write(Worker& worker);  // with its newest hold
  void event(const Event& event);
  // One of the newest that were begun; there is one.
  const Write& recent(Random& random, size_t newest) const;
  bool never_written() const { return writes_.empty(); }

 private:
  struct Gate {
    Token highest;
    Token exclusive;
  };

  World& world_;
  const WorkPlan& work_;
  const Defects& defects_;
  const Callers& nodes_;
  LockObserver& locks_;
  WorkerCalls& calls_;
  std::vector<Write> writes_;
  std::map<std::string, Gate> gates_;
};

}  // namespace coordkit::sim
