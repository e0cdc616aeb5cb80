#include "coordkit/mutex.h"

#include <utility>

#include "coordkit/error.h"
#include "replica/session_handle.h"
#include "replica/system_error.h"

namespace coordkit {

Mutex::Mutex(Session session, std::string name, MutexOptions options)
    : session_(std::move(session)), name_(std::move(name)), sticky_(options.sticky) {
  if (session_.handle_) owner_ = session_.handle_->host().owner_tag();
}

bool Mutex::take(absl::StatusOr<Grant> grant) {
  if (grant.ok()) {
    const std::lock_guard lock(guard_);
    grant_ = *std::move(grant);
    return true;
  }
  const std::optional<Reason> reason = reason_of(grant.status());
  if (reason == Reason::WaitTimeout || reason == Reason::Held || reason == Reason::Delayed) return false;
  raise_as_system_error(grant.status());
}

void Mutex::lock() { take(session_.acquire(name_, {.owner = owner_, .sticky = sticky_})); }
bool Mutex::try_lock() { return take(session_.try_acquire(name_, {.owner = owner_, .sticky = sticky_})); }

bool Mutex::try_lock_within(Duration timeout) {
  return take(session_.acquire(name_, {.timeout = std::max(timeout, Duration::zero()), .owner = owner_, .sticky = sticky_}));
}

void Mutex::unlock() {
  const std::lock_guard lock(guard_);
  grant_.release_later();
}

bool Mutex::valid() const {
  const std::lock_guard lock(guard_);
  return grant_.valid();
}

Token Mutex::token() const {
  const std::lock_guard lock(guard_);
  return grant_.token();
}

std::stop_token Mutex::lost() const {
  const std::lock_guard lock(guard_);
  return grant_.lost();
}

}  // namespace coordkit
