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
  return releases_.release(*session, hold, std::move(done), deadline);
}

void Locks::release_later(const HoldRef& hold) {
  if (hold == nullptr) return;
  hold->invalidate();
  Session* session = table_.find_live(hold->session());
  if (session == nullptr) return;
  if (hold->delegation()) {
    lines_.release(*session, hold);
  } else {
    releases_.give_back(*session, hold);
  }
}

// The other threads' grants are counted there.
LockStatistics Locks::seen() const {
  LockStatistics out = statistics_.so_far();
  const uint64_t by_threads = table_.granted_by_threads();
  out.grants += by_threads;
  out.local_grants += by_threads;
  return out;
}

void Locks::clear() {
  limits_.clear();
  releases_.clear();
  lines_.clear();
}

}  // namespace coordkit::client
