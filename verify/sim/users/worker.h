// A worker: one thread of control of a node's process. It stands still while the process is frozen and ends when it crashes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "coordination/step.h"
#include "coordkit/engine/client.h"

namespace coordkit::sim {

struct Worker {
  enum class State : uint8_t { Idle, Calling, Holding };
  // Permits, a claimed item or a place inside a double barrier.
  struct Thing {
    coordination::Kind kind;
    HoldRef hold;
  };

  uint32_t node = 0;
  uint64_t number = 0;
  uint64_t step = 0;  // a scheduled step of an older number is void
  State state = State::Idle;
  bool stepping_late = false;  // its step came due while the process was frozen
  Random random{0};
  SessionRef session;
  std::vector<HoldRef> holds;  // the newest is worked with and released first
  uint32_t writes_left = 0;
  std::vector<Thing> things;  // of the session as well
  KeyLeaseRef lease;          // that it keeps alive
  CallId waiting;             // an acquire that may be cancelled
  uint64_t labels = 0;
};

}  // namespace coordkit::sim
