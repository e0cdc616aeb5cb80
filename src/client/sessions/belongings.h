// All that a session has: for the process that took it over (docs/semantics.md S-45). A state that is here is read in place.
// One that is elsewhere is asked page by page. Only the end of the session, another resume, or this very client can change the
// answers. So the binding is asked last: if it is still this process's, every page was exact.
#pragma once

#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "client/calls/requests.h"

namespace coordkit::client {

struct Belongings {
  std::optional<machine::SessionInfo> info;   // absent: the state does not know the session
  std::vector<machine::HeldLock> locks;       // in grant order
  std::vector<machine::OwnedObject> objects;  // in the order of the machine
};

using OnListed = absl::AnyInvocable<void(absl::StatusOr<Belongings>, Now)>;

// Lists them in a state at or beyond `at_least`, until the deadline. Refusals that may end are retried. Nothing is listed if
// the engine hosts no machine of coordkit.
void list_belongings(Requests& requests, SessionId session, Index at_least, LaggingTime deadline, Now now, OnListed done);

}  // namespace coordkit::client
