// A session that was taken over, with everything it has: Service::resume_session().
//
// Everything has a new token, which fences off the previous process. Each list is in the order of
// the grants. Destroying a part of it releases that part, as with every grant; a membership stays
// until it is left or the session ends.
//
// Threads: as session.h.
// Lifetime: as session.h.
// Example: tests/unit/replica/replica_session_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "coordkit/client/resumed_holds.h"
#include "coordkit/export.h"
#include "coordkit/objects/claim_queue.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

// Permits of one semaphore that the session holds.
struct ResumedPermits {
  Grant grant;           // name(): the semaphore
  uint64_t permits = 0;  // that the grant gives back together
};

// The answer of Service::resume_session().
struct Resumed {
  Session session;                           // in jeopardy until a renewal is confirmed
  std::vector<Grant> grants = {};            // locks
  std::vector<ResumedPermits> permits = {};  // of semaphores
  std::vector<Grant> places = {};            // inside the double barriers of their names: for
                                             // DoubleBarrier::leave()
  std::vector<WorkItem> items = {};          // for ClaimQueue::acknowledge(); grant.name(): the
                                             // queue
  std::vector<Membership> memberships = {};  // Group(session, group, owner) acts for it
};

}  // namespace coordkit
