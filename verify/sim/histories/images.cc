#include "sim/histories/images.h"

#include <algorithm>

namespace coordkit::sim {

// One from before the genesis would wait for a new cluster.
void Images::take() {
  for (const auto& node : nodes_) {
    const SimLogStore& log = node->stores().log();
    if (!node->up() || log.unsynced() != 0 || !log.durable().last()) continue;
    taken_[node->number()].push_back(node->stores().copy());
  }
}

const NodeStores::Copy* Images::of(uint32_t place, uint32_t newer) const {
  const auto taken = taken_.find(place);
  if (taken == taken_.end()) return nullptr;
  const size_t count = taken->second.size();
  return &taken->second[count - 1 - std::min<size_t>(newer, count - 1)];
}

void Images::put(uint32_t place, const NodeStores::Copy& image) {
  nodes_[place]->set_back_disk(image);
  reach_ = std::max(reach_, image.log.log.last());
}

}  // namespace coordkit::sim
