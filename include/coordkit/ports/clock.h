// Two readings of time, because the code that ends a session and the code that holds it must err in
// opposite directions.
//
//   lagging  CLOCK_MONOTONIC_RAW: stops while the machine is suspended. For code that ENDS
//            something by timeout.
//   leading  CLOCK_MONOTONIC_RAW + (CLOCK_BOOTTIME - CLOCK_MONOTONIC): counts suspend. For code
//            that HOLDS something.
//
// Both are unslewed, never negative, and comparable only within one process. Their rates are within
// [1-rho, 1+rho] of real time; offsets mean nothing and wall time is never read. They are different
// types: mixing them does not compile.
#pragma once

#include <chrono>

#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// The timeline of LaggingTime.
struct LaggingTimeline {
  using duration = Duration;  // in real time, except while the machine is suspended
};
// The timeline of LeadingTime.
struct LeadingTimeline {
  using duration = Duration;  // in real time, suspends included
};
// A moment by the lagging reading. Zero, the default, is before every reading.
using LaggingTime = std::chrono::time_point<LaggingTimeline, Duration>;
// A moment by the leading reading. Comparable only with other leading ones.
using LeadingTime = std::chrono::time_point<LeadingTimeline, Duration>;

// Both readings, taken together: Clock::now() makes it.
struct Now {
  LaggingTime lagging;  // for ending something by timeout
  LeadingTime leading;  // for judging whether something is still held
  friend bool operator==(const Now&, const Now&) = default;
};

// Source of both readings. Both functions are called from several threads at once, must not block
// and must not fail.
class Clock {
 public:
  virtual ~Clock() = default;
  // Reads both.
  virtual Now now() const noexcept = 0;
  // The same as now().lagging, for clocks that can give it at less cost.
  virtual LaggingTime lagging() const noexcept { return now().lagging; }
};

// This machine's clock. Thread-safe; lives as long as the process.
const Clock& system_clock();

}  // namespace coordkit
