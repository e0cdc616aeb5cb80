// A session that was taken over, and all that it has: Replica::resume_session().
//
// Everything has a new token, which fences off the process that had it before, and each list is in the order of the grants.
// What is dropped of it is given back, as every grant is; a membership stays until it is left or the session ends. Threads and
// lifetime: as of session.h. Example: tests/replica/session_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "coordkit/claim_queue.h"
#include "coordkit/client/resumed.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

struct ResumedPermits {
  Grant grant;  // name(): the semaphore
  uint64_t permits = 0;
};

struct Resumed {
  Session session;
  std::vector<Grant> grants = {};  // locks
  std::vector<ResumedPermits> permits = {};
  std::vector<Grant> places = {};            // inside the double barriers of their names: for DoubleBarrier::leave()
  std::vector<WorkItem> items = {};          // for ClaimQueue::acknowledge(); grant.name(): the queue
  std::vector<Membership> memberships = {};  // Group(session, group, owner) speaks for it
};

}  // namespace coordkit
