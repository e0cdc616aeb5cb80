// Converts any duration or time point of the standard library to a time to wait. Saturates at
// Duration::max().
#pragma once

#include <chrono>

#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Rounds up. A NaN gives the shortest Duration.
template <typename Rep, typename Period>
Duration timeout_of(std::chrono::duration<Rep, Period> time) {
  using Wide = std::chrono::duration<double, std::nano>;
  const Wide wide(time);
  if (wide >= Wide((Duration::max)())) return (Duration::max)();
  if (!(wide > Wide((Duration::min)()))) return (Duration::min)();
  return std::chrono::ceil<Duration>(time);
}

// Zero: it has passed.
template <typename TimeClock, typename TimeDuration>
Duration timeout_until(std::chrono::time_point<TimeClock, TimeDuration> moment) {
  const Duration then = timeout_of(moment.time_since_epoch());
  const Duration now = timeout_of(TimeClock::now().time_since_epoch());
  if (then <= now) return Duration::zero();
  return now < Duration::zero() && then > (Duration::max)() + now ? (Duration::max)() : then - now;
}

}  // namespace coordkit
