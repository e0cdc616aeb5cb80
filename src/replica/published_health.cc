#include "replica/published_health.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace coordkit {

void PublishedHealth::publish(Health health) {
  const std::lock_guard lock(mutex_);
  health_ = std::move(health);
  changed_.notify_all();
}

Health PublishedHealth::read() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

std::optional<Health> PublishedHealth::wait(Duration timeout, absl::FunctionRef<bool(const Health&)> holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::min<Duration>(timeout, std::chrono::hours(24 * 365));
  watchers_.fetch_add(1);
  loop_.wake();
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return over_ || holds(health_); });
  watchers_.fetch_sub(1);
  if (over_) return std::nullopt;
  return health_;
}

void PublishedHealth::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

}  // namespace coordkit
