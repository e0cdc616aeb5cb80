// When this replica's turns ran, when the next one was due, and how much of the machine's time was sleep between
// them.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/timers/suspend_meter.h"

namespace coordkit::engine {

class TurnClock {
 public:
  explicit TurnClock(Duration election_timeout) : delta_(election_timeout / 2), sleep_(election_timeout) {}

  void began(Now now) { sleep_.sample(now); }
  void ended(Now now) { last_ = now; }
  void next_wanted(LaggingTime at) { promised_ = at; }
  LaggingTime promised() const { return promised_; }
  const std::optional<Now>& last() const { return last_; }
  const SuspendMeter& sleep() const { return sleep_; }

  // Turns that were due did not run, or the machine slept (docs/time.md T6).
  struct Gap {
    bool any = false;
    Duration late{};  // zero: too little to matter
  };
  Gap gap(Now now) const {
    if (!last_) return {};
    const LaggingTime expected = std::max(last_->lagging, std::min(promised_, now.lagging));
    const Duration late = now.lagging - expected;
    const Duration suspended = (now.leading - last_->leading) - (now.lagging - last_->lagging);
    return {late > delta_ || suspended > delta_, late > delta_ ? late : Duration::zero()};
  }

 private:
  Duration delta_;
  SuspendMeter sleep_;
  std::optional<Now> last_;
  LaggingTime promised_ = LaggingTime::max();
};

}  // namespace coordkit::engine
