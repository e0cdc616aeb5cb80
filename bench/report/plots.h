// The pictures of a file of figures.
#pragma once

#include <string>
#include <vector>

#include "bench/report/chart.h"
#include "bench/report/figures.h"

namespace coordkit::bench {

struct Plot {
  std::string file;  // "lock-latency.svg"
  Chart chart;
};

// For each kind of load that was run with more than one number of callers: throughput, median latency and its 99th
// percentile against callers, with a line for each who and where.
std::vector<Plot> plots_of(const Figures& figures);

}  // namespace coordkit::bench
