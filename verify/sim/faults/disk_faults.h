// Disk faults. Errors and lack of space are within what every replica promises to survive, so they strike any node. Rot,
// misdirected pages and lost syncs take away acknowledged data: they strike one disk at a time, and only where all others
// could do without it. Damaged entries come back from the leader; a disk that cannot be opened is replaced. One that lost its
// newest writes without a trace is replaced before it takes part again, for the loss could not be detected.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/faults/churn.h"
#include "sim/nodes/node.h"
#include "sim/oracle/situation_observer.h"
#include "sim/plan.h"
#include "sim/world/file_system.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class DiskFaults {
 public:
  DiskFaults(World& world, const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, const Churn& churn,
             SituationObserver& situations)
      : world_(world),
        plan_(plan),
        nodes_(nodes),
        churn_(churn),
        situations_(situations),
        active_(plan.nodes),
        slow_(plan.nodes) {}

  // The immediate part of the fault is done, and the lasting part is returned, for begin(). None: it did not strike.
  std::optional<FileFaults> strike(FaultKind kind, uint32_t node, Random& striking);
  // Faults of one disk add up.
  void begin(uint32_t node, const FileFaults& faults);
  void end(uint32_t node, const FileFaults& faults);
  void end_all();  // errors that were still to come
  void slow_down(uint32_t node);
  void speed_up(uint32_t node);

 private:
  NodeStores& stores(uint32_t node) { return nodes_[node]->stores(); }
  bool damage(FaultKind kind, uint32_t node, Random& striking);
  bool lose_files(uint32_t node, Random& striking);
  bool fail_some(FaultKind kind, uint32_t node, Random& striking);
  void refresh(uint32_t node);

  World& world_;
  const Plan& plan_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const Churn& churn_;
  SituationObserver& situations_;
  std::vector<std::vector<FileFaults>> active_;  // per node
  std::vector<int> slow_;                        // slow-disk faults in force, per node
};

}  // namespace coordkit::sim
