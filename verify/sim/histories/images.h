// Images of all disks, taken again and again, as backups and machine images are: each of a moment at which the log had synced
// everything.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sim/nodes/node.h"

namespace coordkit::sim {

class Images {
 public:
  explicit Images(const std::vector<std::unique_ptr<Node>>& nodes) : nodes_(nodes) {}

  void take();
  // The newest one of this place but so many; null: there is none.
  const NodeStores::Copy* of(uint32_t place, uint32_t newer) const;
  // Only between two processes.
  void put(uint32_t place, const NodeStores::Copy& image);
  // As far as the logs in all that were put reach: from there on another history may differ.
  Index reach() const { return reach_; }

 private:
  const std::vector<std::unique_ptr<Node>>& nodes_;
  std::map<uint32_t, std::vector<NodeStores::Copy>> taken_;  // the newest at the end
  Index reach_;
};

}  // namespace coordkit::sim
