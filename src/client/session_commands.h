// Commands of a session. Each carries the session's unanswered releases; once it was executed, they were (docs/semantics.md
// S-43).
#pragma once

#include "client/calls.h"
#include "client/requests.h"
#include "client/sessions.h"

namespace coordkit::client {

class SessionCommands {
 public:
  SessionCommands(Sessions& sessions, Requests& requests, Calls& calls)
      : sessions_(sessions), requests_(requests), calls_(calls) {}

  Ticket submit(Session& session, machine::Request request, LaggingTime deadline, Urgency urgency,
                Requests::OnCompletion on_completion);
  // The release was performed, or never will be: answers those who wait for it. NotOwner means performed if another command
  // may have done it before.
  void release_done(Session& session, const ReleaseId& id, const absl::Status& status);

 private:
  static std::vector<ReleaseId> carry(Session& session, machine::Request& request);

  Sessions& sessions_;
  Requests& requests_;
  Calls& calls_;
};

}  // namespace coordkit::client
