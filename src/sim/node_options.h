// What every process of a node starts with, as its plan says.
#pragma once

#include <vector>

#include "coordkit/client.h"
#include "coordkit/engine.h"
#include "sim/node_parts.h"

namespace coordkit::sim {

// `level`: the feature level of the build. `again`: the node is set up again, after its disk was lost.
EngineOptions engine_options(const NodeParts& parts, uint32_t node, uint64_t level, bool again);
ClientOptions client_options(const NodeParts& parts, uint32_t node, BootCounter boot);
std::vector<HostedMachine> machines_of(const NodeParts& parts, uint32_t node);

}  // namespace coordkit::sim
