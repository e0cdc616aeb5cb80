// What of an engine's messages can leave before its next turn, for a host that learns at once that a write of the log is
// durable (coordkit/engine.h). An acknowledgement or a vote waits for such a write and for nothing else: it was decided by the
// turn that ordered the write. Optional: a host that does not ask finds the same messages in the effects of the next turn.
//
// Threads: as the engine's other functions. Used by: Replica, the simulator.
#pragma once

#include <vector>

#include "coordkit/engine.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class EarlySends {
 public:
  virtual ~EarlySends() = default;
  // Between turns: appends the messages that wait for this write or an earlier one. The write is durable, and its LogWritten is
  // posted before anything that arrives later.
  virtual void take_sends(WriteNumber durable, std::vector<Outbound>& sends) = 0;
};

// Those of an engine that Engine::recover() made, as long as it lives; null: it is of another make.
EarlySends* early_sends(Engine& engine);

}  // namespace coordkit
