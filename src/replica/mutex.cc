#include "coordkit/mutex.h"

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "replica/session_handle.h"
#include "replica/system_error.h"
#include "replica/waiting.h"

namespace coordkit {
Mutex::Mutex(Session session, std::string name, MutexOptions options)
    : session_(std::move(session)), name_(std::move(name)), sticky_(options.sticky) {
  if (session_.handle_) owner_ = session_.handle_->host().owner_tag();
}

// Where a call of the cluster would not wait, this must not either: its refusal says why. A session that is lost, or whose
// replica is closed, never grants again.
void Mutex::refuse_to_wait() {
  const bool may_wait = session_.handle_ && !session_.handle_->host().forked() &&
                        !session_.handle_->host().on_engine_thread() && session_.phase() != SessionPhase::Lost;
  if (!may_wait) raise_as_system_error(session_.acquire(name_, {.owner = owner_}).status());
}

bool Mutex::enter(Duration timeout) {
  std::unique_lock lock(guard_);
  if (!wait_up_to(left_, lock, timeout, [this] { return !taken_; })) return false;
  taken_ = true;
  return true;
}

bool Mutex::ask(Duration timeout) {
  absl::StatusOr<Grant> grant = session_.acquire(name_, {.timeout = timeout, .owner = owner_, .sticky = sticky_});
  {
    const std::lock_guard lock(guard_);
    if (grant.ok()) {
      grant_ = *std::move(grant);
      return true;
    }
    taken_ = false;
  }
  left_.notify_one();
  const std::optional<Reason> reason = reason_of(grant.status());
  if (reason == Reason::WaitTimeout || reason == Reason::Held || reason == Reason::Delayed) return false;
  raise_as_system_error(grant.status());
}

void Mutex::lock() {
  refuse_to_wait();
  enter(kForever);
  ask(kForever);
}

bool Mutex::try_lock() { return try_lock_within(Duration::zero()); }

// What the wait for other threads takes is taken off the wait for other owners.
bool Mutex::try_lock_within(Duration timeout) {
  refuse_to_wait();
  const auto began = std::chrono::steady_clock::now();
  const bool for_ever = timeout > kNeverEnds;
  const Duration patience = for_ever ? kForever : std::max(timeout, Duration::zero());
  if (!enter(patience)) return false;
  return ask(for_ever ? kForever : std::max(patience - (std::chrono::steady_clock::now() - began), Duration::zero()));
}

void Mutex::unlock() {
  {
    const std::lock_guard lock(guard_);
    grant_.release_later();
    taken_ = false;
  }
  left_.notify_one();
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
