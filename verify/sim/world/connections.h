// Which nodes are connected: connections come up when both processes run and both directions pass, their loss is noticed
// sooner or later, and they are tried again.
#pragma once

#include <memory>
#include <vector>

#include "sim/nodes/node.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Connections {
 public:
  Connections(World& world, Network& network, const std::vector<std::unique_ptr<Node>>& nodes, Random& random)
      : world_(world), network_(network), nodes_(nodes), random_(random) {}

  void deliver(const Event& event);
  void connect(uint32_t a, uint32_t b);
  void disconnect(uint32_t node, uint32_t peer);  // one end notices
  void disconnect_all();
  void process_started(uint32_t node);
  void process_stopped(uint32_t node);
  // Its store adopted a genesis: its hello is sent again on existing connections.
  void tell_cluster(uint32_t node);

 private:
  World& world_;
  Network& network_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  Random& random_;  // shared with the other parts of the cluster
};

}  // namespace coordkit::sim
