#include "sim/nodes/scrubs.h"

#include <algorithm>

namespace coordkit::sim {

void Scrubs::process_started(uint32_t node) {
  if (interval_ != Duration()) plan(node);
}

void Scrubs::plan(uint32_t node) {
  constexpr uint64_t kAnotherOne = 1;
  const Duration wait(random_.below(static_cast<uint64_t>(2 * interval_.count())));
  world_.schedule(world_.now() + wait, EventKind::Scrub, node, nodes_[node]->epoch(), kAnotherOne);
}

void Scrubs::event(const Event& event) {
  if (event.epoch != nodes_[event.node]->epoch()) return;
  nodes_[event.node]->scrub();
  if (event.item != 0 && nodes_[event.node]->up()) plan(event.node);
}

// On all replicas at once, each in its own place. If it were on their disks, and they lost power now, the cluster would be
// lost with it: so it passes with the process. A scrub comes before long.
void Scrubs::rot_everywhere(Random& striking) {
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!rot_passing(*nodes_[node], striking)) continue;
    rotten_since_[node] = nodes_[node]->epoch();
    world_.schedule(world_.now() + Duration(striking.below(2'000'000'000)), EventKind::Scrub, node, nodes_[node]->epoch());
  }
}

bool Scrubs::rot_passing(Node& node, Random& striking) {
  if (!node.up() || node.frozen() || node.engine()->core() == nullptr) return false;
  return node.stores().rot_passing(striking, node.engine()->applied());
}

void Scrubs::turned(uint32_t node) {
  if (rotten_since_[node] != 0) look_for_healed(node);
  look_for_mended(node);
}

void Scrubs::look_for_healed(uint32_t node) {
  if (nodes_[node]->stores().rots() && nodes_[node]->epoch() == rotten_since_[node]) return;
  if (nodes_[node]->epoch() == rotten_since_[node]) situations_.reach(Situation::RotHealed);
  rotten_since_[node] = 0;
}

void Scrubs::look_for_mended(uint32_t node) {
  const raft::Core* core = nodes_[node]->engine()->core();
  const bool lacks = core != nullptr && core->floor().index;
  if (lacks_[node] && !lacks && core != nullptr) situations_.reach(Situation::LogMended);
  lacks_[node] = lacks;
}

// INV_S06: everything that rots under a running replica is whole again.
bool Scrubs::rot_is_over() const {
  return std::ranges::none_of(nodes_, [](const auto& node) { return node->up() && node->stores().rots_in_use(); });
}

}  // namespace coordkit::sim
