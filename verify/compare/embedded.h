// coordkit's part of a comparison, and that of recipes built on its keys. The real engine and client run in the simulator's
// cluster, under the same faults.
#pragma once

#include <vector>

#include "compare/strikes.h"
#include "coordkit/sim/compare.h"

namespace coordkit::sim::compare {

OwnRecipe run_embedded(const CompareOptions& options, const std::vector<Strike>& strikes, const LockMaker& make);

// coordkit's own lock.
std::unique_ptr<LockEnd> native_lock(Process& process, const CompareOptions& options);

}  // namespace coordkit::sim::compare
