// The options with which every process of a node starts, as its plan says.
#pragma once

#include <vector>

#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "sim/nodes/node_parts.h"

namespace coordkit::sim {

inline constexpr uint64_t kDigestEntries = 128;  // EngineOptions::digest_entries

// `level`: the feature level of the build. Without the list of members, which is the operator's (member_lists.h).
EngineOptions engine_options(const NodeParts& parts, uint32_t node, uint64_t level);
ClientOptions client_options(const NodeParts& parts, uint32_t node, BootCounter boot);
std::vector<HostedMachine> machines_of(const NodeParts& parts, uint32_t node);

}  // namespace coordkit::sim
