// Makes a failing run small: fewer kinds of faults, fewer faults, a shorter hostile part, fewer
// workers and nodes, as long as the same invariant breaks. Deterministic: the same failing run
// shrinks to the same one.
#pragma once

#include <functional>
#include <string>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {

// The size of a run. Less is better for each number.
struct RunSize {
  uint64_t kinds = 0;    // of faults that struck
  uint64_t faults = 0;   // that struck
  uint32_t nodes = 0;    // of the cluster
  uint32_t workers = 0;  // per node
  Duration hostile{};    // length of the hostile part
  friend bool operator==(const RunSize&, const RunSize&) = default;
};
// The size of the run that this report is about.
RunSize size_of(const Report& report);

// The result of shrink().
struct Shrunk {
  SimOptions options;  // with the reduction that was found
  Report before;       // of the options that were given
  Report after;        // of `options`; before.violation == after.violation
  uint64_t runs = 0;   // that it took
};

// `failing` may have a reduction already. `report` gets a sentence for each step that made the run
// smaller. At most `runs_max` runs. A run that violates nothing, or has wrong options, is returned
// unchanged.
Shrunk shrink(const SimOptions& failing, uint64_t runs_max = 400, const std::function<void(const std::string&)>& report = {});

}  // namespace coordkit::sim
