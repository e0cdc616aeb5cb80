#include "coordkit/mutex.h"

#include <system_error>
#include <utility>

#include "coordkit/error.h"
#include "replica/session_handle.h"

namespace coordkit {
namespace {

[[noreturn]] void raise(const absl::Status& status) {
  const std::errc code = status.code() == absl::StatusCode::kUnavailable        ? std::errc::resource_unavailable_try_again
                         : status.code() == absl::StatusCode::kDeadlineExceeded ? std::errc::timed_out
                         : status.code() == absl::StatusCode::kAlreadyExists    ? std::errc::resource_deadlock_would_occur
                         : status.code() == absl::StatusCode::kInvalidArgument  ? std::errc::invalid_argument
                                                                                : std::errc::owner_dead;
  throw std::system_error(std::make_error_code(code), std::string(status.message()));
}

}  // namespace

Mutex::Mutex(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {
  if (session_.handle_) owner_ = session_.handle_->host().owner_tag();
}

bool Mutex::take(absl::StatusOr<Grant> grant) {
  if (grant.ok()) {
    const std::lock_guard lock(guard_);
    grant_ = *std::move(grant);
    return true;
  }
  const std::optional<Reason> reason = reason_of(grant.status());
  if (reason == Reason::WaitTimeout || reason == Reason::Held) return false;
  raise(grant.status());
}

void Mutex::lock() { take(session_.acquire(name_, {.owner = owner_})); }
bool Mutex::try_lock() { return take(session_.try_acquire(name_, {.owner = owner_})); }

bool Mutex::try_lock_within(Duration timeout) {
  return take(session_.acquire(name_, {.timeout = std::max(timeout, Duration::zero()), .owner = owner_}));
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
