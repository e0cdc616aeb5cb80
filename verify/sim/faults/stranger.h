// A peer that was never invited and sends arbitrary messages, past the gate of the transport: what the engine's own gate
// (engine/peers/message_policy.h) must stop by itself (INV_R22). It uses no member's id, or the id of a member that is not
// connected, the only way a transport can report it: blank, since it cannot prove that it knows the cluster.
#pragma once

#include <memory>
#include <vector>

#include "base/random.h"
#include "coordkit/engine/engine_message.h"
#include "sim/nodes/node.h"
#include "sim/oracle/situation_observer.h"
#include "sim/world/network.h"

namespace coordkit::sim {

// The truth to lie about.
struct WhatIsTrue {
  Term term;
  Position last;
  Index configuration;                // of its entry
  std::vector<raft::Member> members;  // not empty
};

std::vector<Message> draw_lies(const WhatIsTrue& truth, Random& random);

// One comes to this node, if it runs, and lies about the cluster.
void visit(uint32_t node, const std::vector<std::unique_ptr<Node>>& nodes, const Network& network,
           SituationObserver& situations, Random& random);

}  // namespace coordkit::sim
