// Handed to the parts of an engine during a turn: the time, the core, and the effects for the host.
#pragma once

#include <cstddef>

#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class Consensus;

// Calls that one turn ends because their deadline passed; the next turn continues.
inline constexpr size_t kExpiredOfATurn = 1024;

struct Turn {
  Now now;
  EngineEffects& effects;
  Consensus& consensus;
};

}  // namespace coordkit::engine
