// What the parts of an engine are given during a turn: the time, the core, and the place for what the host shall do.
#pragma once

#include "coordkit/engine.h"

namespace coordkit::engine {

class Consensus;

struct Turn {
  Now now;
  EngineEffects& effects;
  Consensus& consensus;
};

}  // namespace coordkit::engine
