#include "sim/nodes/node_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/oracle/violation.h"

namespace coordkit::sim {

void NodeBuild::choose(Random& random) {
  too_old_ = false;
  if (!upgraded_) return;
  if (stays_newest_) {
    level_ = kFeatureLevel;
  } else if (next_level_) {
    level_ = *std::exchange(next_level_, std::nullopt);
  } else if (!newest() && random.chance(0.4)) {
    level_ = random.between(level_ + 1, kFeatureLevel);
  } else if (random.chance(0.15) && level_ > 0) {
    --level_;
  }
  went_back_ = went_back_ || level_ < highest_;
  highest_ = std::max(highest_, level_);
}

void NodeBuild::is_too_old(const absl::Status& why) {
  if (!went_back_) {
    throw Violation("INV_S08", fmt::format("n{} cannot read what others write: {}", node_ + 1, why.ToString()));
  }
  too_old_ = true;
  next_level_ = kFeatureLevel;
  world_.trace(node_, "is too old, as a build of feature level {}", level_);
}

}  // namespace coordkit::sim
