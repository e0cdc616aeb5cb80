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

// For each kind of load that was run with several numbers of callers: throughput, median latency and its 99th percentile
// against callers, with a line for each who and where. For each that was offered at a rate: the distribution of its latency,
// and with several rates the median and the 99th percentile against them. Of kills of leaders: the distribution of what they
// cost.
std::vector<Plot> plots_of(const Figures& figures);

}  // namespace coordkit::bench
