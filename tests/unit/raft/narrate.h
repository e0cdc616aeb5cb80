// Tells in words what a core did: one line per message and per event, for scenario files and failure messages.
#pragma once

#include <string>

#include "raft_cluster.h"

namespace coordkit::raft::testing {

std::string narrate(const Message& message);
std::string narrate(const Node& node, const Effects& effects);  // "" if nothing happened

}  // namespace coordkit::raft::testing
