// The builds that run on a node, one after the other: it is part of a fleet that is upgraded member by member, and sometimes
// back (FLT_V01). Nothing is written that a member cannot read, unless that one went back.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "base/random.h"
#include "coordkit/feature_level.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class NodeBuild {
 public:
  // Upgraded: it begins as the oldest build. Otherwise it is always the newest.
  NodeBuild(World& world, uint32_t node, bool upgraded)
      : world_(world), node_(node), upgraded_(upgraded), level_(upgraded ? 0 : kFeatureLevel) {}

  // Before a start.
  void choose(Random& random);
  // It cannot read what others write. Throws a Violation if nothing explains that. An operator who read that a build is too old
  // starts the newest.
  void is_too_old(const absl::Status& why);
  void stay_newest() { stays_newest_ = true; }  // from its next start on

  uint64_t level() const { return level_; }
  bool newest() const { return level_ == kFeatureLevel; }
  bool too_old() const { return too_old_; }  // for what the node has or was sent

 private:
  World& world_;
  const uint32_t node_;
  const bool upgraded_;
  uint64_t level_;                      // of the running build
  uint64_t highest_ = 0;                // of any build that ran here
  std::optional<uint64_t> next_level_;  // of the next start
  bool went_back_ = false;              // ever downgraded
  bool too_old_ = false;
  bool stays_newest_ = false;
};

}  // namespace coordkit::sim
