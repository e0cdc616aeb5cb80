#include "bench/cluster/load_loop.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kStuckAfter = 30s;
constexpr auto kPatience = 20s;  // with an open loop that is behind

}  // namespace

LoadLoop::LoadLoop(size_t callers, Seconds warmup, Seconds length, double per_s)
    : window_(Window::after(warmup, length)), length_(length), cycles_(1 << 20), running_(callers) {
  if (per_s > 0) {
    pacer_ =
        std::make_unique<Pacer>(Pacer::Plan{.per_s = per_s, .first = Clock::now(), .end = window_.end, .patience = kPatience});
  }
}

void LoadLoop::caller_ended() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) all_ended_.notify_all();
}

void LoadLoop::cycle(TimePoint from, TimePoint to) {
  const bool counts = pacer_ ? from >= window_.start && from < window_.end : window_.contains(from, to);
  const std::lock_guard lock(mutex_);
  if (counts) cycles_.add(from, to);
  if (to >= window_.start && to < window_.end) ++ended_in_window_;
}

void LoadLoop::error(const absl::Status& status) {
  errors_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (first_error_.empty()) first_error_ = status.ToString();
}

nlohmann::ordered_json LoadLoop::wait() {
  std::unique_lock lock(mutex_);
  const auto limit = window_.end + kStuckAfter + (pacer_ ? kPatience : 0s);
  if (!all_ended_.wait_until(lock, limit, [&] { return running_ == 0; })) {
    errors_ += running_;
    if (first_error_.empty()) first_error_ = "callers are stuck";
  }
  nlohmann::ordered_json result = pacer_ ? open_summary() : summary(cycles_, cycles_.count(), length_);
  result["errors"] = errors_.load();
  if (!first_error_.empty()) result["first_error"] = first_error_;
  return result;
}

nlohmann::ordered_json LoadLoop::open_summary() {
  const TimePoint now = Clock::now();
  const uint64_t never_begun = pacer_->never_begun();
  for (uint64_t number = pacer_->planned() - never_begun; number < pacer_->planned(); ++number) {
    if (const TimePoint due = pacer_->due(number); due >= window_.start) cycles_.add(due, now);
  }
  nlohmann::ordered_json result = summary(cycles_, ended_in_window_, length_);
  result["never_begun"] = never_begun;
  result["offering_cores"] = two_digits(pacer_->cores());
  return result;
}

}  // namespace coordkit::bench
