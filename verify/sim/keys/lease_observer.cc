#include "sim/keys/lease_observer.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/oracle/violation.h"

namespace coordkit::sim {

void LeaseObserver::kept(uint32_t node, const KeyLeaseRef& lease) {
  const bool expired = model_.leases().expired(lease->id());
  known_.push_back({node, lease, expired});
  if (expired) refuse_valid(known_.back());
}

void LeaseObserver::process_died(uint32_t node) {
  std::erase_if(known_, [node](const Known& known) { return known.node == node; });
}

void LeaseObserver::entry_applied() {
  for (const Model::Ended& ended : model_.ended()) {
    if (!ended.lease) continue;
    for (Known& known : known_) {
      if (known.lease->id() != ended.lease || !ended.expired) continue;
      known.expired = true;
      refuse_valid(known);
    }
  }
}

void LeaseObserver::looked(uint32_t node) {
  std::erase_if(known_,
                [](const Known& known) { return known.lease->revoked() || known.lease->phase() == SessionPhase::Lost; });
  for (const Known& known : known_) {
    if (known.expired && known.node == node) refuse_valid(known);
  }
}

void LeaseObserver::refuse_valid(const Known& known) const {
  const LeadingTime reading = nodes_[known.node]->clock().read(world_.now()).leading;
  if (beliefs_ == TrustCheck::Ignored || !known.lease->valid(reading)) return;
  throw Violation("INV_L10",
                  fmt::format("n{} may trust lease {} after its expiry was applied", known.node + 1, known.lease->id().value()),
                  {.index = model_.applied()});
}

}  // namespace coordkit::sim
