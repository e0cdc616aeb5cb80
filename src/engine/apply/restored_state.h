// The content of a RestoredState: everything of an engine that is a function of the applied state.
#pragma once

#include <utility>
#include <vector>

#include "coordkit/engine/state_transfer.h"
#include "engine/apply/router.h"
#include "engine/timers/timer_keeper.h"

namespace coordkit {

struct RestoredState::Parts {
  explicit Parts(std::vector<HostedMachine> machines) : router(std::move(machines)) {}
  engine::Router router;
  engine::TimerKeeper keeper;
};

}  // namespace coordkit
