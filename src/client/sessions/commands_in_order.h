// Commands of a session, none of which overtakes its releases (docs/semantics.md S-43). Each comes after the newest
// unanswered command that releases, and names the releases that no command performs yet. Below feature level 2 it names all
// unanswered ones. Once a command was executed, the releases that it names were performed.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "client/calls/answers.h"
#include "client/calls/calls.h"
#include "client/calls/requests.h"
#include "client/sessions/sessions.h"

namespace coordkit::client {

class SessionCommands {
 public:
  SessionCommands(Sessions& sessions, Requests& requests, Calls& calls)
      : sessions_(sessions), requests_(requests), calls_(calls) {}

  using Result = absl::StatusOr<machine::Result>;
  // `on_result(completion, result, now)` gets the result_of() the completion. `named`: the releases that the request itself
  // performs; the caller that named them answers for them.
  template <typename OnResult>
  Ticket submit(Session& session, machine::Request&& request, LaggingTime deadline, Urgency urgency, OnResult&& on_result,
                std::span<const ReleaseNumber> named = {}) {
    return requests_.submit(
        request, deadline, urgency,
        [this, of = session.state, carried = carry(session, request, named), on_result = std::forward<OnResult>(on_result)](
            const Completion& completion, Now now) mutable {
          const Result result = result_of(completion);
          answered(of, completion, result, carried);
          on_result(completion, result, now);
          settle(of, result);
        },
        comes_after(session));
  }
  // The release was performed, or never will be: answers its waiting callers. NotOwner means performed if another command
  // may have performed it earlier.
  void release_done(Session& session, ReleaseNumber number, const absl::Status& status);
  // Acts on the answer's statement about the session itself; commands submitted here do this themselves.
  void settle(const SessionRef& of, const Result& result);
  // For a command that will get no answer any more: whether this replica's own state says that its session is gone
  // (Sessions::gone()).
  bool lost_its_session(const SessionRef& of) const;

 private:
  static constexpr uint64_t kOrderedLevel = 2;                        // from this level on a request may name its predecessor
  using Carried = std::unique_ptr<const std::vector<ReleaseNumber>>;  // null: none, the usual case

  Carried carry(Session& session, machine::Request& request, std::span<const ReleaseNumber> named);
  Ticket comes_after(const Session& session) const;
  void answered(const SessionRef& of, const Completion& completion, const Result& result, const Carried& carried);

  Sessions& sessions_;
  Requests& requests_;
  Calls& calls_;
};

}  // namespace coordkit::client
