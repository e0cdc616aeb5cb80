// Faults in a timeline, from when to when and which nodes they hit.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/record/timeline_rows.h"

namespace coordkit::sim {

class FaultRecorder {
 public:
  FaultRecorder(Timeline& timeline, const World& world) : timeline_(timeline), world_(world), faults_(timeline.limits.faults) {}

  // `node` is the one it hits, if it hits one.
  uint64_t begins(FaultKind kind, uint64_t ordinal, uint32_t node, Duration length);
  void cuts(uint64_t fault, const std::vector<std::pair<uint32_t, uint32_t>>& links);
  void ends(uint64_t fault);
  void calm();  // all faults are over
  void finish() { hand_over(faults_, "faults", timeline_, timeline_.faults); }

 private:
  Timeline& timeline_;
  const World& world_;
  std::set<uint64_t> open_;
  BoundedList<Timeline::Fault> faults_;
};

}  // namespace coordkit::sim
