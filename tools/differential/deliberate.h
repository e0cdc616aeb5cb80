// The differences that are meant. Each is looked for in a pair of answers and taken out of both, so that nothing else hides
// behind it.
#pragma once

#include <string>
#include <vector>

#include "tools/differential/step.h"

namespace coordkit::differential {

// The names of those that were found; docs/differences.md says why of each.
std::vector<std::string> settle(const Step& step, Revision compacted, Answer& theirs, Answer& ours);

}  // namespace coordkit::differential
