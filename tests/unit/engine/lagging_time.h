// Points of time for tests, counted from zero.
#pragma once

#include "coordkit/ports/clock.h"

namespace coordkit::engine {

constexpr LaggingTime at(Duration since) { return LaggingTime(since); }

}  // namespace coordkit::engine
