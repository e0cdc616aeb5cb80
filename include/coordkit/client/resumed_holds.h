// A session that was taken over, with everything it has (docs/semantics.md S-45). Each hold has a
// new token, because the previous process may still show the former one. Each list is in the order
// of the grants. None of it is valid before the session is. Plain values; the handles are those of
// the Client.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/client/coordination.h"
#include "coordkit/client/handles.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// Permits of the semaphore `hold->name()`.
struct HeldPermits {
  HoldRef hold;          // gives all of them back together
  uint64_t permits = 0;  // how many
};

// A member of a group; the session's process acts for it under this owner.
struct Membership {
  std::string group;  // its name
  std::string owner;  // as in Group: the owner that joined; may be empty
  Index number;       // the member's number in the group
  std::string value;  // the member's value
  friend bool operator==(const Membership&, const Membership&) = default;
};

// The answer of Client::resume_session().
struct ResumedSession {
  SessionRef session;                        // in jeopardy
  std::vector<HoldRef> holds = {};           // locks
  std::vector<HeldPermits> permits = {};     // of semaphores
  std::vector<HoldRef> places = {};          // inside the double barriers of these names
  std::vector<ClaimedItem> items = {};       // of the queue `hold->name()`
  std::vector<Membership> memberships = {};  // in groups
};

}  // namespace coordkit
