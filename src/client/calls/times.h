// Sums of times that stay in range: a far deadline means "never", not an overflow.
#pragma once

#include "coordkit/ports/clock.h"

namespace coordkit::client {

template <typename Time>
constexpr Time later(Time from, Duration by) {
  if (by > Duration::zero() && from.time_since_epoch() > Duration::max() - by) return Time::max();
  return from + by;
}

// How long from `now` until `then`: zero if it is past, max if it never comes.
template <typename Time>
constexpr Duration until(Time now, Time then) {
  if (then == Time::max()) return Duration::max();
  return then <= now ? Duration::zero() : then - now;
}

}  // namespace coordkit::client
