// Calls that read: coordkit's own machine as typed state, a machine of the host as bytes. They write nothing, so a read whose
// caller is gone is forgotten.
#pragma once

#include <string>
#include <utility>

#include "client/calls/answers.h"
#include "client/calls/calls.h"
#include "client/calls/requests.h"

namespace coordkit::client {

class ReadCalls {
 public:
  ReadCalls(Requests& requests, Calls& calls) : requests_(requests), calls_(calls) {}

  struct Terms {
    ReadOptions options = {};
    CallDeadline deadline = {};
    absl::Status refusal = {};  // why the call is refused without asking
  };
  // `read(state, completion)` makes the answer: a T or a status.
  template <typename T, typename Read>
  CallId read(Terms terms, Callback<T> done, Read read) {
    return ask(std::move(terms), std::move(done),
               [this, read = std::move(read)](CallId id, const machine::Reads& state, const Completion& completion) mutable {
                 calls_.answer<T>(id, absl::StatusOr<T>(read(state, completion)));
               });
  }
  // The state of a semaphore, barrier or the like; `of(view, as_of)` makes the answer.
  template <typename T, typename Of>
  CallId object(coordination::Kind kind, std::string name, uint64_t limit, CallDeadline deadline, Callback<T> done, Of of) {
    Terms terms{.deadline = deadline, .refusal = check_lock_name(name)};
    return read<T>(std::move(terms), std::move(done),
                   [kind, name = std::move(name), limit, of](const machine::Reads& state, const Completion& completion) {
                     return of(state.object(kind, name, limit), completion.index);
                   });
  }
  // A question for a machine of the host.
  CallId query(MachineId machine, std::string question, Terms terms, Callback<QueryResult> done);

 private:
  using OnState = absl::AnyInvocable<void(CallId, const machine::Reads&, const Completion&)>;
  CallId ask(Terms terms, AnyCallback callback, OnState on_state);

  Requests& requests_;
  Calls& calls_;
};

}  // namespace coordkit::client
