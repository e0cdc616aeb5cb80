// Commands of a session, none of which overtakes its releases (docs/semantics.md S-43). Each comes after the newest
// unanswered command that releases, and names the releases that no command performs yet. Below feature level 2 it names all
// unanswered ones. Once a command was executed, the releases that it names were performed.
//
// A hold is invalid from the call of its release on. Its end in the log is pursued until it is acknowledged or the session is
// over. So a lock cannot leak while renewals continue (docs/time.md T10).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/pool.h"
#include "client/calls/answers.h"
#include "client/calls/calls.h"
#include "client/calls/requests.h"
#include "client/sessions/sessions.h"

namespace coordkit::client {

class SessionCommands {
 public:
  SessionCommands(Sessions& sessions, Requests& requests, Calls& calls)
      : sessions_(sessions), table_(sessions.table()), requests_(requests), calls_(calls) {}

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
  // Acts on the answer's statement about the session itself; commands submitted here do this themselves.
  void settle(const SessionRef& of, const Result& result);
  // For a command that will get no answer any more: whether this replica's own state says that its session is gone
  // (Sessions::gone()).
  bool lost_its_session(const SessionRef& of) const;

  // ---- releases (releases.cc)
  // Answered when the log has released the hold, which must not be one that its session keeps here (S-58).
  CallId release(Session& session, const HoldRef& hold, DoneCallback&& done, CallDeadline deadline);
  // The same without a caller. Null: the hold was already released, so this has no effect.
  PendingRelease* give_back(Session& session, const HoldRef& hold);
  // For a grant that never got a handle, or on behalf of its handle.
  PendingRelease& give_back(Session& session, std::string&& name, Token token, bool counted);
  // For a hold that was changed and now has this token: callers that wait for its release wait for this one.
  void give_back(Session& session, const HoldRef& hold, Token changed);
  // Puts all releases of a session in one turn into one command.
  void post_due();
  bool any_due() const { return !table_.releases_due().empty(); }

 private:
  static constexpr uint64_t kOrderedLevel = 2;                        // from this level on a request may name its predecessor
  using Carried = std::unique_ptr<const std::vector<ReleaseNumber>>;  // null: none, the usual case

  Carried carry(Session& session, machine::Request& request, std::span<const ReleaseNumber> named);
  Ticket comes_after(const Session& session) const;
  void answered(const SessionRef& of, const Completion& completion, const Result& result, const Carried& carried);

  struct Posted {
    SessionRef session;
    ReleaseNumber last;
    std::vector<ReleaseNumber> before;
  };
  void post(Session& session, std::span<const ReleaseNumber> batch);
  void released(const Posted& posted, const Result& result, Now now);
  void not_released(Session& session, ReleaseNumber number, const absl::Status& why);
  // The release was performed, or never will be: answers its waiting callers. NotOwner means performed if another command
  // may have performed it earlier.
  void release_done(Session& session, ReleaseNumber number, const absl::Status& status);

  Sessions& sessions_;
  SessionTable& table_;
  Requests& requests_;
  Calls& calls_;
  std::vector<SessionId> posting_;
  std::vector<ReleaseNumber> batch_;
  Pool<Posted> posted_;
};

}  // namespace coordkit::client
