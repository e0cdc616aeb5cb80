// Commands without a session, for coordkit's machine or a machine of the host, with or without a fence (docs/semantics.md
// S-54).
#pragma once

#include <optional>
#include <utility>

#include "base/pool.h"
#include "client/calls/calls.h"
#include "client/calls/requests.h"
#include "client/locks/lent_locks.h"

namespace coordkit::client {

class WriteCalls {
 public:
  WriteCalls(Requests& requests, Calls& calls, const LentLocks& lent) : requests_(requests), calls_(calls), lent_(lent) {}

  struct Write {
    MachineId machine = kCoordination;
    uint32_t answer_bytes_max = kResultBytesMax;
    SharedBytes bytes = {};
    WriteOptions options = {};
    absl::Status refusal = {};  // why the call is refused without sending
  };
  Write command(const machine::Request& request, WriteOptions options);
  Write command(const machine::Request& request, WriteOptions options, absl::Status refusal);
  // `read(completion)` makes the answer: a T or a status. It is called if the engine completed the command without an error
  // of its own.
  template <typename T, typename Read>
  CallId write(Write&& write, Callback<T>&& done, Read read) {
    return submit(std::move(write), std::move(done),
                  [this, read = std::move(read)](CallId id, const Completion& completion) mutable {
                    calls_.answer<T>(id, absl::StatusOr<T>(read(completion)));
                  });
  }

 private:
  using OnExecuted = absl::AnyInvocable<void(CallId, const Completion&)>;
  struct Pending {
    Write write = {};
    OnExecuted on_executed = {};
  };
  CallId submit(Write&& write, AnyCallback&& callback, OnExecuted&& on_executed);
  void start(CallId id, const PoolRef<Pending>& pending);
  bool over(const std::optional<Fence>& fence) const;

  Requests& requests_;
  Calls& calls_;
  const LentLocks& lent_;
  Pool<Pending> pending_;
};

}  // namespace coordkit::client
