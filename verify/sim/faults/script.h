// The conductor of a script: the same faults as the drawn ones, when and where the author of a test wants them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "coordkit/sim/conductor.h"
#include "sim/faults/faults.h"
#include "sim/nodes/node.h"
#include "sim/nodes/processes.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Script final : public Conductor {
 public:
  Script(World& world, const std::vector<std::unique_ptr<Node>>& nodes, const ConsensusObserver& consensus,
         Processes& processes, Faults& faults)
      : world_(world), nodes_(nodes), consensus_(consensus), processes_(processes), faults_(faults) {}

  Duration now() const override { return world_.now().time_since_epoch(); }
  uint64_t nodes() const override { return nodes_.size(); }
  ReplicaId leader() const override;
  void at(Duration when, std::function<void()> act) override;
  void event(const Event& event);  // one of these is due

  void crash(ReplicaId node) override;
  void start(ReplicaId node) override;
  void freeze(ReplicaId node) override { freeze(node, Node::Freeze::Process); }
  void stop_machine(ReplicaId node) override { freeze(node, Node::Freeze::Clocks); }
  void resume(ReplicaId node) override;
  void cut(ReplicaId from, ReplicaId to) override;
  void mend(ReplicaId from, ReplicaId to) override;
  void clock_rate(ReplicaId node, int64_t parts_per_million) override;
  void end_run() override { ended_ = true; }
  bool ended() const { return ended_; }

 private:
  void freeze(ReplicaId node, Node::Freeze what);
  static uint32_t place(ReplicaId node) { return static_cast<uint32_t>(node.value() - 1); }
  bool exists(ReplicaId node) const { return node && node.value() <= nodes(); }
  bool is_cut(ReplicaId from, ReplicaId to) const;

  World& world_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const ConsensusObserver& consensus_;
  Processes& processes_;
  Faults& faults_;
  std::map<uint64_t, std::function<void()>> acts_;
  uint64_t last_ = 0;
  std::map<std::pair<ReplicaId, ReplicaId>, size_t> cuts_;  // faults made here, some of them over
  bool ended_ = false;
};

}  // namespace coordkit::sim
