#include "coordkit/locks/mutex.h"

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "service/calls/waiting.h"
#include "service/locks/system_error.h"
#include "service/sessions/session_handle.h"

namespace coordkit {
Mutex::Mutex(Session session, std::string name, MutexOptions options)
    : session_(std::move(session)), name_(std::move(name)), sticky_(options.sticky) {
  if (session_.handle_) owner_ = session_.handle_->owner_tags().fresh();
}

// Where a call to the cluster would not wait, this must not either: its refusal says why. A session that is lost, or whose
// replica is closed, is never granted anything again.
void Mutex::refuse_to_wait() {
  const bool may_wait =
      session_.handle_ && refusal_to_wait(session_.handle_->host()).ok() && session_.phase() != SessionPhase::Lost;
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
  if (is_no(grant.status())) return false;
  raise_as_system_error(grant.status());
}

void Mutex::lock() {
  refuse_to_wait();
  enter(kForever);
  ask(kForever);
}

bool Mutex::try_lock() { return try_lock_within(Duration::zero()); }

// The wait for other threads counts against the wait for other owners.
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

// ---- several

absl::StatusOr<Grant> Mutex::acquire_all(const std::vector<Mutex*>& mutexes, Duration timeout) {
  Mutex& first = *mutexes.front();
  first.refuse_to_wait();
  LockOptions options{.timeout = std::max(timeout, Duration::zero())};
  options.owner = first.session_.handle_->owner_tags().fresh();
  std::vector<NamedLock> locks;
  for (const Mutex* mutex : mutexes) {
    if (mutex->session_.handle_ != first.session_.handle_) {
      return make_error(Reason::InvalidArgument, "the mutexes are of several sessions; make all of them of one session");
    }
    locks.push_back({.name = mutex->name_});
  }
  return first.session_.acquire_all(std::move(locks), std::move(options));
}

// It has its own owner, so it waits for a holder of one of the mutexes, in this process or elsewhere, like anyone else.
MultiLock::MultiLock(const std::vector<Mutex*>& mutexes, Duration timeout) {
  absl::StatusOr<Grant> grant = Mutex::acquire_all(mutexes, timeout);
  owns_ = grant.ok();
  if (owns_) {
    grant_ = *std::move(grant);
  } else if (!is_no(grant.status())) {
    raise_as_system_error(grant.status());
  }
}

void MultiLock::unlock() {
  grant_.release_later();
  owns_ = false;
}

}  // namespace coordkit
