#include "service/operate/published_health.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "service/calls/waiting.h"

namespace coordkit {

void PublishedHealth::publish(Health health, Metrics metrics) {
  const std::lock_guard lock(mutex_);
  health_ = std::move(health);
  metrics_ = std::move(metrics);
  published_at_ = clock_.lagging();
  asked_ = false;
  ++published_;
  changed_.notify_all();
}

Duration PublishedHealth::age() const {
  return published_ == 0 ? Duration::zero() : std::max(clock_.lagging() - published_at_.load(), Duration::zero());
}

Health PublishedHealth::read() const {
  const std::lock_guard lock(mutex_);
  Health health = health_;
  health.age = age();
  return health;
}

Metrics PublishedHealth::read_metrics() const {
  const std::lock_guard lock(mutex_);
  Metrics metrics = metrics_;
  metrics.age = age();
  return metrics;
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

bool PublishedHealth::look(Duration timeout, const HoldUps& hold_ups) {
  std::unique_lock lock(mutex_);
  const auto anew = [this, before = published_] { return over_ || published_ != before; };
  const LaggingTime now = clock_.lagging();
  const LaggingTime deadline = timeout > LaggingTime::max() - now ? LaggingTime::max() : now + timeout;
  return wait_unless_held_up(clock_, hold_ups, deadline, [&](Duration at_most) { return watch(lock, at_most, anew); });
}

void PublishedHealth::ask() {
  asked_ = true;
  loop_.wake();
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
