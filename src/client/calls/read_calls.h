// Calls that read: coordkit's own machine by typed questions, a machine of the host by bytes. They write nothing, so a read
// whose caller is gone is forgotten.
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

    Ask until(LaggingTime call_deadline) const {
      return {.consistency = options.consistency, .at_least = options.at_least, .deadline = call_deadline};
    }
  };
  // `make(question, answer, completion)` turns the machine's answer into the caller's: a T or a status.
  template <typename T, typename Question, typename Make>
  CallId read(Terms terms, Question question, Callback<T> done, Make make) {
    if (!terms.refusal.ok()) return calls_.refuse(std::move(done), std::move(terms.refusal));
    const CallDeadline deadline = terms.deadline;
    return calls_.enter(
        std::move(done), OnAbandon::Forget, deadline,
        [this, terms = std::move(terms), question = std::move(question), make = std::move(make)](CallId id, Now) mutable {
          Call& call = *calls_.find(id);
          call.ticket = requests_.ask(
              terms.until(call.deadline), std::move(question),
              [this, id, make = std::move(make)](Question& asked, auto&& answer, const Completion& completion, Now) mutable {
                if (!answer.ok()) return static_cast<void>(calls_.fail(id, answer.status()));
                calls_.answer<T>(id, absl::StatusOr<T>(make(asked, *std::move(answer), completion)));
              });
        });
  }
  // The state of a semaphore, barrier or the like; `of(view, as_of)` makes the answer.
  template <typename T, typename Of>
  CallId object(coordination::Kind kind, std::string name, uint64_t limit, CallDeadline deadline, Callback<T> done, Of of) {
    Terms terms{.deadline = deadline, .refusal = check_lock_name(name)};
    return read<T>(std::move(terms), machine::ObjectOf{kind, std::move(name), limit}, std::move(done),
                   [of](const machine::ObjectOf&, const machine::ObjectView& view, const Completion& completion) {
                     return of(view, completion.index);
                   });
  }
  // A question for a machine of the host.
  CallId query(MachineId machine, std::string question, Terms terms, Callback<QueryResult> done);

 private:
  Requests& requests_;
  Calls& calls_;
};

}  // namespace coordkit::client
