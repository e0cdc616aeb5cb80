// The health of a replica, as its handle asks for it: Replica's health(), metrics() and wait_ready(), blocking and not.
//
// Threads: any, but for the last two, which are called inside a call, on the engine's thread.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/service.h"

namespace coordkit {

class ReplicaHealth {
 public:
  virtual ~ReplicaHealth() = default;

  virtual Health health() = 0;
  virtual absl::StatusOr<Metrics> metrics() = 0;
  virtual absl::Status wait_ready(Duration timeout) = 0;

  // Answered after the next turn.
  virtual Ticket ask(Callback<Health> done) = 0;
  // Answered once it is ready, or cannot be, or at the deadline.
  virtual Ticket ask_ready(LaggingTime deadline, DoneCallback done) = 0;
};

}  // namespace coordkit
