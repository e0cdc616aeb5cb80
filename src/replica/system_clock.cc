// Both readings from the kernel's unslewed clocks (clock.h says why).
//
// The time spent in suspend is CLOCK_BOOTTIME - CLOCK_MONOTONIC. The two are read one after the other, so the difference
// jitters by what lies between the reads; a step counts only above a millisecond, and only upwards, so that the leading
// reading never goes back.
#include <atomic>
#include <ctime>

#include "coordkit/clock.h"

namespace coordkit {
namespace {

int64_t read_ns(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  Now now() const noexcept override {
    const int64_t monotonic = read_ns(CLOCK_MONOTONIC);
    const int64_t suspended = read_ns(CLOCK_BOOTTIME) - monotonic;
    int64_t known = suspended_.load(std::memory_order_relaxed);
    while (suspended > known + kJitter && !suspended_.compare_exchange_weak(known, suspended, std::memory_order_relaxed)) {
    }
    const int64_t offset = suspended > known + kJitter ? suspended : known;
    const int64_t raw = read_ns(CLOCK_MONOTONIC_RAW);
    return {LaggingTime(Duration(raw)), LeadingTime(Duration(raw + offset))};
  }

 private:
  static constexpr int64_t kJitter = 1'000'000;
  mutable std::atomic<int64_t> suspended_{0};
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace coordkit
