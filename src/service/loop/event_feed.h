// Carries operator events from the engine's thread to the callback thread. The queue is bounded: a callback that is
// too slow loses events and is told how many.
#pragma once

#include <atomic>
#include <memory>

#include "coordkit/operate/replica_event.h"
#include "service/loop/callback_thread.h"

namespace coordkit {

class EventFeed {
 public:
  static constexpr size_t kWaitingMax = 1000;
  EventFeed(OnReplicaEvent on_event, CallbackThread& callbacks, size_t waiting_max = kWaitingMax)
      : on_event_(std::move(on_event)), callbacks_(callbacks), waiting_max_(waiting_max) {}
  // On the engine's thread.
  void tell(ReplicaEvent event);

 private:
  const OnReplicaEvent on_event_;
  CallbackThread& callbacks_;
  const size_t waiting_max_;
  uint64_t missed_ = 0;
  // Shared with the tasks, which may outlive the feed.
  const std::shared_ptr<std::atomic<size_t>> waiting_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace coordkit
