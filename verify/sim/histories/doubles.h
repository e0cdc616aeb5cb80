// Two processes that act as one member meet the rules of a transport here (FLT_P18, src/transport/incarnation.h). A peer that
// both reach takes the one with the higher boot counter, and neither if they are equal. It says so, and so does the process
// that it refuses.
#pragma once

#include <memory>
#include <vector>

#include "sim/nodes/node.h"
#include "sim/plan.h"
#include "sim/world/connections.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Doubles {
 public:
  Doubles(World& world, const Plan& plan, const Network& network, Connections& connections,
          const std::vector<std::unique_ptr<Node>>& nodes)
      : world_(world), plan_(plan), network_(network), connections_(connections), nodes_(nodes) {}

  // These two are about to connect. False: they must not; if a double is the reason, they try again later.
  bool admit(uint32_t a, uint32_t b);

 private:
  bool admit_at(uint32_t peer, uint32_t comer);
  void part(uint32_t a, uint32_t b);

  World& world_;
  const Plan& plan_;
  const Network& network_;
  Connections& connections_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
};

}  // namespace coordkit::sim
