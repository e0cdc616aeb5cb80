// Somebody who was never invited and says whatever it likes, past the gate of the transport: what the engine's own gate
// (engine/hearing.h) must hold back alone (INV_R22). It comes as nobody, or under the name of a member that is not connected,
// as a transport cannot but report it: blank, for it cannot show that it knows the cluster.
#pragma once

#include <vector>

#include "base/random.h"
#include "coordkit/message.h"

namespace coordkit::sim {

// What there is to lie about.
struct WhatIsTrue {
  Term term;
  Position last;
  Index configuration;                // of its entry
  std::vector<raft::Member> members;  // not empty
};

std::vector<Message> draw_lies(const WhatIsTrue& truth, Random& random);

}  // namespace coordkit::sim
