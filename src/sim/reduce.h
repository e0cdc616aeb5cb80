// Carries a Reduction out on what a seed drew.
#pragma once

#include <string>

#include "coordkit/sim/reduction.h"
#include "sim/plan.h"

namespace coordkit::sim {

// Empty, or a sentence why it cannot be; then the plan is in no state to be used. What strikes is the run's own business.
[[nodiscard]] std::string reduce(const Reduction& reduction, Plan& plan);

}  // namespace coordkit::sim
