// Deadlock detection among waiting owners (docs/semantics.md S-49). Deterministic: a function of the table alone.
//
// The graph. A waiting owner points to whoever must act before its wait can end, name by name: to each owner of an
// incompatible hold, and to each owner of an earlier, incompatible waiter. An earlier waiter of the same mode stands in the
// way only if it waits on other names too; then whatever that claim waits for is waited for here as well, without its owner
// being asked for anything else. Lock-delays end by themselves and are no edges.
//
// Edges begin only with an acquire that is queued and with an upgrade, so asking there keeps the graph free of cycles, those
// of requests aside that were exempt (INV_L17). Cost: claims and waiters reachable from the question, each once.
#pragma once

#include "lock/claim.h"

namespace coordkit::lock {

// Does this wait, the newest of its owner, lead back to its owner?
bool closes_cycle(const Claim& wait);
// Does any wait of this owner lead back to it?
bool waits_for_itself(const Owner& owner);

}  // namespace coordkit::lock
