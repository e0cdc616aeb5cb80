#include "coordkit/locks/shared_mutex.h"

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "service/locks/system_error.h"
#include "service/sessions/session_handle.h"

namespace coordkit {

SharedMutex::SharedMutex(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

bool SharedMutex::take(LockMode mode, Duration timeout) {
  LockOptions options{.timeout = timeout, .mode = mode};
  if (session_.handle_) options.owner = session_.handle_->owner_tags().fresh();
  absl::StatusOr<Grant> grant = session_.acquire(name_, std::move(options));
  if (grant.ok()) {
    const std::lock_guard lock(guard_);
    if (mode == LockMode::Exclusive) {
      exclusive_ = *std::move(grant);
    } else {
      shared_.push_back(*std::move(grant));
    }
    return true;
  }
  if (is_no(grant.status())) return false;
  raise_as_system_error(grant.status());
}

bool SharedMutex::try_lock_within(LockMode mode, Duration timeout) { return take(mode, std::max(timeout, Duration::zero())); }

void SharedMutex::lock() { take(LockMode::Exclusive, kForever); }
bool SharedMutex::try_lock() { return take(LockMode::Exclusive, Duration::zero()); }
void SharedMutex::lock_shared() { take(LockMode::Shared, kForever); }
bool SharedMutex::try_lock_shared() { return take(LockMode::Shared, Duration::zero()); }

void SharedMutex::unlock() {
  const std::lock_guard lock(guard_);
  if (exclusive_) exclusive_->release_later();
  exclusive_.reset();
}

void SharedMutex::unlock_shared() {
  const std::lock_guard lock(guard_);
  if (shared_.empty()) return;
  shared_.back().release_later();
  shared_.pop_back();
}

bool SharedMutex::valid() const {
  const std::lock_guard lock(guard_);
  if (exclusive_) return exclusive_->valid();
  return !shared_.empty() && std::ranges::all_of(shared_, &Grant::valid);
}

Token SharedMutex::token() const {
  const std::lock_guard lock(guard_);
  if (exclusive_) return exclusive_->token();
  Token newest;
  for (const Grant& grant : shared_) newest = std::max(newest, grant.token());
  return newest;
}

}  // namespace coordkit
