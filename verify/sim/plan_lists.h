// Lists of members that differ at the first start, and their correction.
#pragma once

#include "base/random.h"
#include "sim/plan.h"

namespace coordkit::sim {

// With this probability. At most one set of members can be founded: that of one wrong list, or the right one.
void draw_first_start(Plan& plan, Random& random, double chance);

}  // namespace coordkit::sim
