#include "sim/histories/doubles.h"

#include <fmt/format.h>

namespace coordkit::sim {

bool Doubles::admit(uint32_t a, uint32_t b) {
  if (plan_.member_at(a) == plan_.member_at(b)) return false;
  if (!nodes_[a]->up() || !nodes_[b]->up() || (admit_at(a, b) && admit_at(b, a))) return true;
  world_.schedule(world_.now() + std::chrono::milliseconds(200), EventKind::Connect, a, 0, b);
  return false;
}

bool Doubles::admit_at(uint32_t peer, uint32_t comer) {
  for (uint32_t other = 0; other < plan_.places(); ++other) {
    if (other == comer || plan_.member_at(other) != plan_.member_at(comer)) continue;
    const bool heard = nodes_[other]->up() && network_.passes(other, peer) && network_.passes(peer, other);
    const BootCounter boot = nodes_[comer]->stores().log().boot(), others = nodes_[other]->stores().log().boot();
    if (!heard || boot >= others) part(peer, other);
    if (!heard || boot > others) continue;
    const std::string why = fmt::format("two processes act as replica {}", plan_.member_at(comer) + 1);
    nodes_[peer]->post(PeerRefused{nodes_[comer]->id(), why});
    nodes_[comer]->post(PeerRefused{nodes_[peer]->id(), why});
    return false;
  }
  return true;
}

void Doubles::part(uint32_t a, uint32_t b) {
  if (network_.connected(a, b)) connections_.disconnect(a, b);
  if (network_.connected(b, a)) connections_.disconnect(b, a);
}

}  // namespace coordkit::sim
