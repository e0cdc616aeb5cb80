// Deadlock detection among waiting owners (docs/semantics.md S-49). It is deterministic: a function of the table alone.
//
// The graph. A waiting owner points to the owners that must act before its wait can end, name by name. They are each owner of
// an incompatible hold, and each owner of an earlier, incompatible waiter. An earlier waiter of the same mode blocks it only
// if that waiter waits on other names too. Then this wait also waits for everything for which the earlier one waits, but the
// earlier one's owner need not act. Lock-delays end by themselves and are no edges.
//
// Edges are added only by an acquire that is queued and by an upgrade. So the checks there keep the graph free of cycles,
// except those of exempt requests (INV_L17). Cost: each claim and waiter that the new wait reaches, once. That is next to
// nothing if no owner waits behind the claims of the new wait's owner.
#pragma once

#include "lock/claim.h"

namespace coordkit::lock {

// Whether this wait, the newest of its owner, leads back to its owner.
bool closes_cycle(const Claim& wait);
// Whether any wait of this owner leads back to it.
bool waits_for_itself(const Owner& owner);

}  // namespace coordkit::lock
