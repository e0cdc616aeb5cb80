#include "replica/published_health.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace coordkit {

void PublishedHealth::publish(Health health) {
  const std::lock_guard lock(mutex_);
  health_ = std::move(health);
  ++published_;
  changed_.notify_all();
}

Health PublishedHealth::read() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

// Returns what `until` then says; it is asked under the lock.
bool PublishedHealth::watch(std::unique_lock<std::mutex>& lock, Duration timeout, absl::FunctionRef<bool()> until) {
  const auto deadline = std::chrono::steady_clock::now() + std::min<Duration>(timeout, std::chrono::hours(24 * 365));
  lock.unlock();
  watchers_.fetch_add(1);
  loop_.wake();
  lock.lock();
  const bool done = changed_.wait_until(lock, deadline, until);
  watchers_.fetch_sub(1);
  return done;
}

bool PublishedHealth::look(Duration timeout) {
  std::unique_lock lock(mutex_);
  return watch(lock, timeout, [this, before = published_] { return over_ || published_ != before; });
}

std::optional<Health> PublishedHealth::wait(Duration timeout, absl::FunctionRef<bool(const Health&)> holds) {
  std::unique_lock lock(mutex_);
  watch(lock, timeout, [&] { return over_ || holds(health_); });
  if (over_) return std::nullopt;
  return health_;
}

void PublishedHealth::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

}  // namespace coordkit
