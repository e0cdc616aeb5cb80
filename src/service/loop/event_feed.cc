#include "service/loop/event_feed.h"

#include <utility>

namespace coordkit {

void EventFeed::tell(ReplicaEvent event) {
  if (waiting_->load(std::memory_order_relaxed) >= waiting_max_) {
    ++missed_;
    return;
  }
  waiting_->fetch_add(1, std::memory_order_relaxed);
  event.missed = std::exchange(missed_, 0);
  callbacks_.post([on_event = on_event_, event = std::move(event), waiting = waiting_] {
    waiting->fetch_sub(1, std::memory_order_relaxed);
    on_event(event);
  });
}

}  // namespace coordkit
