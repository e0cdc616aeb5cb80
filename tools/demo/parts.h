// The parts of the replicas of the demo. A program that links another definition tells the same story, with the same
// checks, over parts of its own (tests/system/examples/foreign_parts.cc).
#pragma once

#include "coordkit/ports/parts.h"

namespace coordkit::demo {

Parts parts_of_a_node();

}  // namespace coordkit::demo
