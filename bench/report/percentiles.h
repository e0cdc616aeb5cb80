// The percentiles that are kept of a run's latencies: enough for a picture of the distribution.
#pragma once

#include <array>
#include <string_view>

namespace coordkit::bench {

struct Percentile {
  std::string_view name;
  double one_in = 1;  // so many operations is slower
};

inline constexpr std::array kPercentiles = {Percentile{"p50_us", 2},    Percentile{"p75_us", 4},   Percentile{"p90_us", 10},
                                            Percentile{"p95_us", 20},   Percentile{"p99_us", 100}, Percentile{"p999_us", 1e3},
                                            Percentile{"p9999_us", 1e4}};

}  // namespace coordkit::bench
