// Deadlock detection among waiting owners (docs/semantics.md S-49). Deterministic: a function of the table alone.
//
// The graph. A waiting owner points to the owners that must act before its wait can end, name by name: to each owner of an
// incompatible hold, and to each owner of an earlier, incompatible waiter. An earlier waiter of the same mode stands in the
// way only if it waits on other names too; then this wait also waits for everything that claim waits for, without its owner
// having to act. Lock-delays end by themselves and are no edges.
//
// Edges are added only by an acquire that is queued and by an upgrade, so checking there keeps the graph free of cycles, except
// those of exempt requests (INV_L17). Cost: claims and waiters reachable from the new wait, each once; hardly anything if
// nobody waits behind what its owner has.
#pragma once

#include "lock/claim.h"

namespace coordkit::lock {

// Does this wait, the newest of its owner, lead back to its owner?
bool closes_cycle(const Claim& wait);
// Does any wait of this owner lead back to it?
bool waits_for_itself(const Owner& owner);

}  // namespace coordkit::lock
