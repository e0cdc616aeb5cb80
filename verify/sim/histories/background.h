// The faults around the one that a run of two histories is about, all within the fault model: processes crash and start again,
// members are isolated, storms blow. The cuts between two histories are made here as well, and everything is mended at once.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "sim/faults/fault_schedule.h"
#include "sim/faults/link_faults.h"
#include "sim/nodes/node.h"
#include "sim/plan.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Background {
 public:
  Background(World& world, const Plan& plan, Network& network, const std::vector<std::unique_ptr<Node>>& nodes,
             const Reduction& reduction, Random random)
      : world_(world),
        plan_(plan),
        network_(network),
        nodes_(nodes),
        random_(random),
        schedule_(world, plan, reduction, random_) {}

  void begin() { schedule_.begin(); }
  void begin_event(const Event& event);
  void end_event(const Event& event);
  void end_all();
  const FaultSchedule& schedule() const { return schedule_; }

  // No link passes between these places and those, until all ends.
  void cut_apart(const std::set<uint32_t>& these, const std::set<uint32_t>& those);
  // Its process dies, and does not start before all ends.
  void take_down(uint32_t place);
  bool kept_down(uint32_t place) const { return kept_down_.contains(place); }
  void crash(uint32_t place, Duration down);
  uint64_t crashes() const { return crashes_; }

 private:
  struct Active {
    FaultKind kind;
    Links links;
    bool on;
  };
  void remember(FaultKind kind, Links links);
  void undo(Active& fault);
  bool kill(uint32_t place);  // false: no process runs there

  World& world_;
  const Plan& plan_;
  Network& network_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  Random random_;
  FaultSchedule schedule_;
  std::vector<Active> active_;  // and those that were
  std::set<uint32_t> kept_down_;
  uint64_t crashes_ = 0;
  bool over_ = false;
};

}  // namespace coordkit::sim
