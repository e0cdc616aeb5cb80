// A random duration between two bounds, inclusive.
#pragma once

#include "base/random.h"
#include "coordkit/types.h"

namespace coordkit::sim {

inline Duration draw(Random& random, Duration low, Duration high) {
  return Duration(random.between(low.count(), high.count()));
}

}  // namespace coordkit::sim
