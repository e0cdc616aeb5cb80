// INV_L01, L05, L06, L07: what a replica would answer equals the model after the same entry, lock by lock and object by
// object.
#pragma once

#include "sim/nodes/node.h"
#include "sim/oracle/model.h"
#include "sim/plan.h"

namespace coordkit::sim {

// The node has applied what the model has. Throws Violation.
void compare_with_model(const Node& node, const Model& model, const WorkPlan& work);

}  // namespace coordkit::sim
