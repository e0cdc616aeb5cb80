// The suite "doors": the load "lock" on three replicas in this process, with stores and network in memory: at door 2, all three
// in one thread (examples/07_own_loop), and at door 1, with its threads and its handles. What remains is the cost of coordkit
// itself, without disks and without the kernel's network.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cluster/suite.h"

namespace coordkit::bench {

// For each number of callers and each door a line of each round, and with more than one round the medians. False: errors.
bool run_doors(const Suite& suite, const std::vector<size_t>& callers, const PrintLine& print);

// The first of the two alone, with so many callers.
nlohmann::ordered_json run_one_thread(const LoadOptions& options);

}  // namespace coordkit::bench
