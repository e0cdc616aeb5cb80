// The lives of the processes: they crash, stand still, end because of their disks, and are started again. A disk that can no
// longer be used is replaced by a blank one.
#pragma once

#include <memory>
#include <vector>

#include "sim/faults/churn.h"
#include "sim/nodes/node.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/oracle/situation_observer.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Processes {
 public:
  Processes(World& world, const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, ConsensusObserver& consensus,
            const Churn& churn, SituationObserver& situations, Random& random)
      : world_(world),
        plan_(plan),
        nodes_(nodes),
        consensus_(consensus),
        churn_(churn),
        situations_(situations),
        random_(random),
        in_turn_until_(plan.nodes) {}

  void start(uint32_t node);  // unless it runs, or is away
  void start_soon(uint32_t node);
  void crash(uint32_t node, Duration down, CrashKind kind);
  void crash_in_turn(uint32_t node, Duration length);  // its next one; it is back after `length`
  void freeze(uint32_t node, Node::Freeze what);       // it runs
  void resume_event(const Event& event);

  void stopped(uint32_t node);
  void halted(uint32_t node);
  void replace_disk(uint32_t node);
  uint64_t crashes() const { return crashes_; }

  // No power is lost in a start any more, and those that halt come back at once.
  void calm_down() { calm_ = true; }
  void replace_bad_disks();
  void finish_upgrade();
  // It runs, awake, and reads all it has stored.
  void restore(uint32_t node);

 private:
  World& world_;
  const Plan& plan_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  ConsensusObserver& consensus_;
  const Churn& churn_;
  SituationObserver& situations_;
  Random& random_;                       // shared with the other parts of the cluster
  std::vector<TrueTime> in_turn_until_;  // per node that must die in its next turn: when it is to be back; zero: none
  uint64_t crashes_ = 0;
  bool calm_ = false;
};

}  // namespace coordkit::sim
