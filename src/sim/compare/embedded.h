// coordkit's part of a comparison: the real engine and client in the simulator's cluster, under the same strikes.
#pragma once

#include <vector>

#include "coordkit/sim/compare.h"
#include "sim/compare/strikes.h"

namespace coordkit::sim::compare {

// Adds to `comparison` what came out, a violated invariant included.
void run_coordkit(const CompareOptions& options, const std::vector<Strike>& strikes, Comparison& comparison);

}  // namespace coordkit::sim::compare
