// Applies a Reduction to a drawn plan.
#pragma once

#include <string>

#include "coordkit/sim/reduction.h"
#include "sim/plan.h"

namespace coordkit::sim {

// Empty, or a sentence why it cannot be done; then the plan must not be used. The run decides what strikes.
[[nodiscard]] std::string reduce(const Reduction& reduction, Plan& plan);

}  // namespace coordkit::sim
