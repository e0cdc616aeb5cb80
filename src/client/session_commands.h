// Commands of a session, none of which overtakes its releases (docs/semantics.md S-43): each comes after the newest unanswered
// command that releases, and names the releases that no command performs yet. Below feature level 2 it names all
// unanswered ones. Once a command was executed, the releases it names were performed.
#pragma once

#include <vector>

#include "base/pool.h"
#include "client/calls.h"
#include "client/requests.h"
#include "client/sessions.h"

namespace coordkit::client {

class SessionCommands {
 public:
  SessionCommands(Sessions& sessions, Requests& requests, Calls& calls)
      : sessions_(sessions), requests_(requests), calls_(calls) {}

  // With what result_of() makes of the completion.
  using Result = absl::StatusOr<machine::Result>;
  using OnResult = absl::AnyInvocable<void(const Completion&, const Result&, Now)>;
  // `named`: the releases that the request already names, besides its body.
  Ticket submit(Session& session, machine::Request&& request, LaggingTime deadline, Urgency urgency, OnResult&& on_result,
                std::vector<ReleaseId> named = {});
  // The release was performed, or never will be: answers its waiting callers. NotOwner means performed if another command
  // may have performed it earlier.
  void release_done(Session& session, const ReleaseId& id, const absl::Status& status);

 private:
  static constexpr uint64_t kOrderedLevel = 2;  // from which on a request may name its predecessor
  // A pending command, and the releases it names.
  struct Posted {
    SessionRef session;
    std::vector<ReleaseId> named;
    OnResult on_result;
  };
  void completed(Posted& posted, const Completion& completion, Now now);
  void carry(Session& session, machine::Request& request, std::vector<ReleaseId>& named);

  Sessions& sessions_;
  Requests& requests_;
  Calls& calls_;
  Pool<Posted> posted_;
};

}  // namespace coordkit::client
