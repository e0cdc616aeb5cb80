// Tells what a cluster still lacks that faults have left alone: a leader, replicas that are level, the end of what the dead
// have left behind. It only looks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/nodes/node.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/oracle/model.h"
#include "sim/plan.h"
#include "sim/users/calls.h"

namespace coordkit::sim {

class Convergence {
 public:
  Convergence(const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, const Callers& callers,
              const ConsensusObserver& consensus, const Model& model, const Calls& calls)
      : plan_(plan), nodes_(nodes), callers_(callers), consensus_(consensus), model_(model), calls_(calls) {}

  bool has_leader() const { return consensus_.leader().has_value(); }
  bool leader_began() const;  // it has applied an entry of its own term
  bool level() const;
  bool levels_raised() const;  // to the newest one
  // INV_S10: what every replica's store holds is known to be durable, whatever failed before.
  bool checkpoints_sound() const;
  bool nothing_held() const { return model_.locks().names().empty() && model_.sessions().all().empty(); }

  // Programs choose the TTLs of their own sessions. One that outlives every run is not awaited.
  Duration longest_ttl() const;
  SessionId dead_session() const;  // its process is gone, and its end awaited; zero: none

  std::string describe() const;  // for the report of a run that does not end

 private:
  std::string describe(const Node& node) const;

  const Plan& plan_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const Callers& callers_;
  const ConsensusObserver& consensus_;
  const Model& model_;
  const Calls& calls_;
};

}  // namespace coordkit::sim
