// The part of a Service that its handles at door 1 need beside the calls of its client, which CallRunner has. RunningHost
// (running_host.h) is a replica with its threads, disk and sockets, and RemoteHost (remote_host.h) a process without a replica.
// The fake of coordkit/testing/fake_session.h is a replica in virtual time. So the handles are the same in all of them.
//
// Threads: any, unless a method says otherwise. Lifetime: handles share it, also once it is closed.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/service.h"
#include "service/calls/call_runner.h"
#include "service/operate/replica_health.h"

namespace coordkit {

class Host : public CallRunner {
 public:
  WriteOptions write_options(ProposeOptions options) const {
    return {.deadline = deadline(options.timeout), .fence = std::move(options.fence)};
  }

  // Runs `task` on the callback thread; once that is stopped, right here.
  virtual void announce(absl::AnyInvocable<void()> task) = 0;
  // On the engine's thread: runs `act` there after this delay, or when the host is closed, before the client is stopped.
  virtual void later(Duration delay, absl::AnyInvocable<void()> act) = 0;
  // How long what failed for lack of a leader is left alone before it is tried again.
  virtual Duration retry_after() const = 0;

  virtual ReplicaHealth& health() = 0;
  virtual absl::Status close() = 0;
  // On a thread made for it, which then calls `done`. `self` is this.
  virtual void close_async(std::shared_ptr<Host> self, DoneCallback done) = 0;
  // The destructor of the service calls it. `self` is this.
  virtual void end(std::shared_ptr<Host> self) = 0;
};

}  // namespace coordkit
