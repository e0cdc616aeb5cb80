// Time between attempts. It doubles from min to max, and each pause is drawn from the upper half of its range. So replicas
// that lost each other at the same moment do not all return at the same moment (FLT_N07, FLT_N15).
#pragma once

#include <algorithm>

#include "base/random.h"
#include "coordkit/types.h"

namespace coordkit {

class Backoff {
 public:
  Backoff(Duration min, Duration max) : min_(min), max_(max), next_(min) {}

  Duration next(Random& random) {
    const Duration limit = next_;
    next_ = std::min(max_, 2 * next_);
    return limit / 2 + Duration(static_cast<Duration::rep>(random.below(static_cast<uint64_t>(limit.count() / 2) + 1)));
  }
  void reset() { next_ = min_; }

 private:
  Duration min_;
  Duration max_;
  Duration next_;
};

}  // namespace coordkit
