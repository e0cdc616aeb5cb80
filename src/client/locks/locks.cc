#include "client/locks/locks.h"

#include <utility>

#include "client/calls/answers.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId Locks::release(const HoldRef& hold, DoneCallback&& done, CallDeadline deadline) {
  if (hold == nullptr) return calls_.refuse(std::move(done), no_grant());
  hold->invalidate();  // T8: before anything is sent
  Session* session = table_.find_live(hold->session());
  if (session == nullptr) return calls_.refuse(std::move(done), hold_lost());
  if (hold->delegation()) return lines_.release(*session, hold, std::move(done), deadline);
  return commands_.release(*session, hold, std::move(done), deadline);
}

void Locks::release_later(const HoldRef& hold) {
  if (hold == nullptr) return;
  hold->invalidate();
  Session* session = table_.find_live(hold->session());
  if (session == nullptr) return;
  if (hold->delegation()) {
    lines_.release(*session, hold);
  } else {
    commands_.give_back(*session, hold);
  }
}

// Since the resume only the end of the session, or this client, can remove a hold. So the list is exact. An end shows as an
// event after this, or as a renewal that does not cover the session.
std::vector<HoldRef> Locks::adopt(Session& session, const std::vector<machine::HeldLock>& locks) {
  std::vector<HoldRef> holds;
  for (size_t i = 0; i < locks.size(); ++i) {
    const machine::HeldLock& lock = locks[i];
    if (lock.last) {
      holds.push_back(lines_.adopt(session, lock));
      continue;
    }
    HoldTerms terms{.mode = lock.mode, .counted = true, .others = {}};
    for (; i + 1 < locks.size() && locks[i + 1].token == lock.token; ++i) {
      terms.others.push_back({locks[i + 1].name, locks[i + 1].mode});
    }
    // One handle covers all counts, and it may be counted up again: its release is numbered as the last so far.
    session.make_extension().releases_counted[lock.token] = lock.releases + lock.count - 1;
    holds.push_back(table_.adopt(session, lock.name, lock.owner_tag, lock.token, lock.since, std::move(terms)));
  }
  return holds;
}

void Locks::clear() {
  table_.limits().clear();
  lines_.clear();
}

}  // namespace coordkit::client
