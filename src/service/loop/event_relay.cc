#include "service/loop/event_relay.h"

#include <utility>

namespace coordkit {
namespace {

constexpr size_t kEventOverhead = 128;  // so that empty events are bounded too

}  // namespace

EventRelay::EventRelay(const std::vector<OwnMachine>& machines, CallbackThread& callbacks, size_t bytes_max)
    : callbacks_(callbacks), bytes_max_(bytes_max), waiting_(std::make_shared<std::atomic<size_t>>(0)) {
  for (const OwnMachine& machine : machines) {
    if (machine.on_event) listeners_[machine.id].on_event = machine.on_event;
  }
}

void EventRelay::relay(MachineEvent event) {
  const auto found = listeners_.find(event.machine);
  if (found == listeners_.end()) return;
  Listener& listener = found->second;
  const size_t bytes = event.bytes.size() + kEventOverhead;
  if (waiting_->load(std::memory_order_relaxed) + bytes > bytes_max_) {
    ++listener.missed;
    return;
  }
  waiting_->fetch_add(bytes, std::memory_order_relaxed);
  OwnEvent own{.index = event.index, .bytes = std::move(event.bytes), .missed = std::exchange(listener.missed, 0)};
  callbacks_.post([on_event = listener.on_event, own = std::move(own), bytes, waiting = waiting_] {
    waiting->fetch_sub(bytes, std::memory_order_relaxed);
    on_event(own);
  });
}

}  // namespace coordkit
