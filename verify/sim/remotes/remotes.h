// The processes without a replica of one run, their links to the replicas that are their gateways, and the faults of both.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/nodes/node.h"
#include "sim/nodes/node_parts.h"
#include "sim/oracle/observers.h"
#include "sim/remotes/remote_acts.h"
#include "sim/remotes/remote_links.h"
#include "sim/remotes/remote_node.h"
#include "sim/users/workload.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Remotes {
 public:
  // They become callers, behind the replicas.
  Remotes(const NodeParts& parts, std::vector<std::unique_ptr<Node>>& nodes, Observers& observers, Random random);

  void start(Workload& workload);
  void event(const Event& event);
  void gateway_died(uint32_t gateway);
  void told(uint32_t gateway, std::vector<std::pair<ReplicaId, Frame>> frames);
  void calm();    // no more faults; all run, awake
  void retire();  // the end of the run

 private:
  void strike();
  void crash(RemoteNode& remote, uint32_t number);
  void restart(uint32_t number);
  void resume(uint32_t number);
  void later(Duration after, uint32_t number, RemoteAct act, uint64_t detail = 0);
  RemoteNode& at(uint32_t number) { return *remotes_[number - parts_.plan.nodes]; }
  uint32_t first() const { return parts_.plan.nodes; }

  const NodeParts parts_;
  Observers& observers_;
  Random random_;
  RemoteLinks links_;
  std::vector<std::unique_ptr<RemoteNode>> remotes_;
  Workload* workload_ = nullptr;
  bool calm_ = false;
};

}  // namespace coordkit::sim
