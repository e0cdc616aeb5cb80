// coordkit's own state machine (sessions, locks, keys, semaphores and the like) for hosts that run an engine themselves:
// the first of Engine::recover's machines, and what coordkit::Client speaks to. Example: examples/07_own_loop.
#pragma once

#include "coordkit/engine.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// A fresh one, with the id and the row prefix that every replica's has (kCoordination). RestoredState::build takes fresh
// machines too.
HostedMachine coordination_machine();

}  // namespace coordkit
