// The rot below running replicas, and the scrubs that find it.
#pragma once

#include <memory>
#include <vector>

#include "sim/nodes/node.h"
#include "sim/oracle/situation_observer.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Scrubs {
 public:
  Scrubs(World& world, const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, SituationObserver& situations,
         Random& random)
      : world_(world),
        interval_(plan.scrub_interval),
        nodes_(nodes),
        situations_(situations),
        random_(random),
        rotten_since_(plan.nodes),
        lacks_(plan.nodes) {}

  void process_started(uint32_t node);
  void event(const Event& event);
  void rot_everywhere(Random& striking);
  void turned(uint32_t node);
  bool rot_is_over() const;

 private:
  void plan(uint32_t node);
  static bool rot_passing(Node& node, Random& striking);
  void look_for_healed(uint32_t node);
  void look_for_mended(uint32_t node);

  World& world_;
  const Duration interval_;  // mean time between two scrubs of a replica; zero: they are not repeated
  const std::vector<std::unique_ptr<Node>>& nodes_;
  SituationObserver& situations_;
  Random& random_;                      // shared with the other parts of the cluster
  std::vector<uint32_t> rotten_since_;  // per node: the process under which something rotted; zero: none
  std::vector<bool> lacks_;             // per node: its log ends before what its disk had held
};

}  // namespace coordkit::sim
