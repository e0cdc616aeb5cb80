// What the parts of an engine are given during a turn: the time, the core, and the place for what the host shall do.
#pragma once

#include <cstddef>

#include "coordkit/engine.h"

namespace coordkit::engine {

class Consensus;

// Calls that one turn ends because their time is over; the next one goes on.
inline constexpr size_t kExpiredOfATurn = 1024;

struct Turn {
  Now now;
  EngineEffects& effects;
  Consensus& consensus;
};

}  // namespace coordkit::engine
