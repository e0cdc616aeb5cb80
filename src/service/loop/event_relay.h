// Carries the events of the host's machines from the engine's thread to the callback thread. The queue is bounded: a callback
// that is too slow loses events and is told how many.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/ports/own_machine.h"
#include "service/loop/callback_thread.h"

namespace coordkit {

class EventRelay {
 public:
  EventRelay(const std::vector<OwnMachine>& machines, CallbackThread& callbacks, size_t bytes_max = kEventBytesMax);
  // On the engine's thread. Events of machines without a callback end here.
  void relay(MachineEvent event);

 private:
  struct Listener {
    std::function<void(const OwnEvent&)> on_event;
    uint64_t missed = 0;
  };
  CallbackThread& callbacks_;
  const size_t bytes_max_;
  std::map<MachineId, Listener> listeners_;
  std::shared_ptr<std::atomic<size_t>> waiting_;  // bytes; shared with the tasks, which may outlive the relay
};

}  // namespace coordkit
