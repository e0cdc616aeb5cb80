// Applies a Reduction to a drawn plan.
#pragma once

#include <string>

#include "coordkit/sim/reduction.h"
#include "sim/plan.h"

namespace coordkit::sim {

// Empty, or a sentence why it cannot be done; then the plan must not be used. What strikes is decided by the run.
[[nodiscard]] std::string reduce(const Reduction& reduction, Plan& plan);

}  // namespace coordkit::sim
