// The deliberate differences. Each is looked for in a pair of answers and removed from both, so that nothing else hides
// behind it.
#pragma once

#include <string>
#include <vector>

#include "tools/differential/step.h"

namespace coordkit::differential {

// The names of those found; docs/differences.md explains each.
std::vector<std::string> remove_deliberate(const Step& step, Revision compacted, Answer& theirs, Answer& ours);

}  // namespace coordkit::differential
