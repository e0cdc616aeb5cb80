// Both readings from the kernel's unslewed clocks (clock.h says why).
//
// The time spent in suspend is CLOCK_BOOTTIME - CLOCK_MONOTONIC, and it only grows. The two cannot be read at once, so one is
// read between two readings of the other. The difference between these two readings is the error. A reading during which the
// thread was preempted is repeated. The remaining error, microseconds, is far below the slack that every holder keeps.
#include <algorithm>
#include <atomic>
#include <ctime>

#include "coordkit/ports/clock.h"

namespace coordkit {
namespace {

int64_t read_ns(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

// At most this far below the truth, if a few attempts give an undisturbed reading.
int64_t time_in_suspend() {
  constexpr int64_t kUndisturbed = 10'000;  // ns
  int64_t best = 0;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const int64_t before = read_ns(CLOCK_MONOTONIC);
    const int64_t boot = read_ns(CLOCK_BOOTTIME);
    const int64_t after = read_ns(CLOCK_MONOTONIC);
    best = std::max(best, boot - after);  // never above the truth, so that a disturbed reading does no harm
    if (after - before <= kUndisturbed) break;
  }
  return best;
}

class SystemClock final : public Clock {
 public:
  Now now() const noexcept override {
    const int64_t suspended = time_in_suspend();
    int64_t known = suspended_.load(std::memory_order_relaxed);
    while (suspended > known && !suspended_.compare_exchange_weak(known, suspended, std::memory_order_relaxed)) {
    }
    const LaggingTime raw = lagging();
    return {raw, LeadingTime(raw.time_since_epoch() + Duration(std::max(suspended, known)))};
  }
  LaggingTime lagging() const noexcept override { return LaggingTime(Duration(read_ns(CLOCK_MONOTONIC_RAW))); }

 private:
  mutable std::atomic<int64_t> suspended_{0};
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace coordkit
