// Problems of options that the client and door 1 have in common.
#pragma once

#include "base/problems.h"
#include "coordkit/client/client_options.h"

namespace coordkit::client {

inline void check(const StickyLimits& sticky, Problems& problems) {
  if (sticky.block == 0 || sticky.block > uint64_t{1} << 20) problems.add("sticky.block is not between 1 and 1,048,576");
  if (sticky.time_max < Duration::zero()) problems.add("sticky.time_max is negative: give it zero or more");
}

inline void check(const CompactionPolicy& compaction, Problems& problems) {
  if (!compaction.legal()) problems.add("compaction.age is neither zero, which keeps all history, nor 100 ms or more");
}

inline void check_rate_error(uint32_t rate_error_ppm, Problems& problems) {
  if (rate_error_ppm > 500'000) problems.add("rate_error_ppm is above 500,000 (50 %): 10,000 suits ordinary hardware");
}

}  // namespace coordkit::client
