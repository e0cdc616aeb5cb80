// coordkit's own state machine (sessions, locks, keys, semaphores and the like) for hosts that run
// an engine themselves. It is the first of Engine::recover's machines, and coordkit::Client talks
// to it.
// Example: examples/07_own_loop.
#pragma once

#include "coordkit/engine/engine.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// Makes a blank machine with the id and the row prefix that it has on every replica
// (kCoordination). RestoredState::build takes blank machines too.
HostedMachine coordination_machine();

}  // namespace coordkit
