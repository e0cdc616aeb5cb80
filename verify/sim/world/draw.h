// Random durations and orders.
#pragma once

#include <utility>
#include <vector>

#include "base/random.h"
#include "coordkit/types.h"

namespace coordkit::sim {

// Between two bounds, inclusive.
inline Duration draw(Random& random, Duration low, Duration high) {
  return Duration(random.between(low.count(), high.count()));
}

template <typename T>
void shuffle(std::vector<T>& items, Random& random) {
  for (size_t i = 0; i + 1 < items.size(); ++i) std::swap(items[i], items[i + random.below(items.size() - i)]);
}

}  // namespace coordkit::sim
