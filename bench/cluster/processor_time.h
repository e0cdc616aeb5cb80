// What the calling thread has taken of its processors, in seconds.
#pragma once

#include <time.h>

namespace coordkit::bench {

inline double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace coordkit::bench
