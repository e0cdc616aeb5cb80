#include "bench/cluster/closed_loop.h"

namespace coordkit::bench {

using namespace std::chrono_literals;

void ClosedLoop::caller_ended() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) all_ended_.notify_all();
}

void ClosedLoop::cycle(TimePoint from, TimePoint to) {
  if (!window_.contains(from, to)) return;
  const std::lock_guard lock(mutex_);
  cycles_.add(from, to);
}

void ClosedLoop::error(const absl::Status& status) {
  errors_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (first_error_.empty()) first_error_ = status.ToString();
}

nlohmann::ordered_json ClosedLoop::wait() {
  std::unique_lock lock(mutex_);
  if (!all_ended_.wait_until(lock, window_.end + 30s, [&] { return running_ == 0; })) {
    errors_ += running_;
    if (first_error_.empty()) first_error_ = "callers are stuck";
  }
  nlohmann::ordered_json result = summary(cycles_, length_);
  result["errors"] = errors_.load();
  if (!first_error_.empty()) result["first_error"] = first_error_;
  return result;
}

}  // namespace coordkit::bench
