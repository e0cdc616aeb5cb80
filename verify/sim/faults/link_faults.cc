#include "sim/faults/link_faults.h"

namespace coordkit::sim {

void LinkFaults::begin_storm() {
  ++storms_;
  network_.set_quality(plan_.storm);
}

void LinkFaults::end_storm() {
  if (--storms_ == 0) network_.set_quality(plan_.calm);
}

void LinkFaults::cut(const Links& links) {
  for (const auto& [from, to] : links) network_.cut(from, to);
  situations_.links_cut(links.size());
}

void LinkFaults::mend(const Links& links) {
  for (const auto& [from, to] : links) network_.mend(from, to);
  situations_.links_mended(links.size());
}

void LinkFaults::notice_cuts(const Links& links, Random& random) {
  for (const auto& [from, to] : links) {
    if (!random.chance(0.4)) continue;
    world_.schedule(world_.now() + Duration(random.below(1'000'000'000)), EventKind::Disconnect, from, 0, to);
  }
}

void LinkFaults::clog(const Links& links) {
  for (const auto& [from, to] : links) network_.clog(from, to);
}

void LinkFaults::unclog(const Links& links) {
  for (const auto& [from, to] : links) network_.unclog(from, to);
}

void LinkFaults::hold_kind(const Links& links, size_t message_kind) {
  for (const auto& [from, to] : links) network_.hold_kind(from, to, message_kind);
}

void LinkFaults::release_kind(const Links& links, size_t message_kind) {
  for (const auto& [from, to] : links) network_.release_kind(from, to, message_kind);
}

Links draw_links(FaultKind kind, uint32_t nodes, uint32_t one, Random& random) {
  Links links;
  const uint32_t other = static_cast<uint32_t>((one + 1 + random.below(nodes - 1)) % nodes);
  if (kind == FaultKind::OneWayCut) {
    links.emplace_back(one, other);
    if (random.chance(0.5)) std::swap(links[0].first, links[0].second);
    return links;
  }
  const auto both = [&](uint32_t a, uint32_t b) {
    links.emplace_back(a, b);
    links.emplace_back(b, a);
  };
  if (kind == FaultKind::PairCut || kind == FaultKind::Flap) {
    both(one, other);
    return links;
  }
  std::vector<bool> side(nodes);
  side[one] = true;
  if (kind == FaultKind::Split) {
    for (uint32_t node = 0; node < nodes; ++node) side[node] = random.chance(0.5);
  }
  for (uint32_t a = 0; a < nodes; ++a) {
    for (uint32_t b = a + 1; b < nodes; ++b) {
      if (side[a] != side[b]) both(a, b);
    }
  }
  return links;
}

}  // namespace coordkit::sim
