// The whole of one run: nodes, network, faults, users and observers on one world. It hands each event to its owner, lets
// faults strike while the run is hostile, then heals everything and demands convergence.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/faults/churn.h"
#include "sim/faults/faults.h"
#include "sim/faults/script.h"
#include "sim/nodes/node.h"
#include "sim/nodes/processes.h"
#include "sim/nodes/scrubs.h"
#include "sim/oracle/convergence.h"
#include "sim/oracle/observers.h"
#include "sim/plan.h"
#include "sim/users/users.h"
#include "sim/world/connections.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Cluster final : private NodeWatcher {
 public:
  Cluster(World& world, const Plan& plan, const SimOptions& options);
  ~Cluster() override;

  // To the end, or until a Violation is thrown.
  void run();
  void fill(Report& report) const;

 private:
  // NodeWatcher
  void started(uint32_t node) override;
  void stopped(uint32_t node) override;
  void halted(uint32_t node) override { processes_.halted(node); }
  void resumed(uint32_t node) override { users_->process_resumed(node); }
  void reached(Situation situation) override { observers_.situations.reach(situation); }
  void handling(uint32_t node, const EngineInput& input) override { observers_.handles(node, input); }
  bool may_go_on(uint32_t node) override;
  void pulled_out(uint32_t node) override;
  void checkpointing(uint32_t node, const CheckpointBatch& batch) override { observers_.checkpoints(node, batch); }
  void writing(uint32_t node, const LogWrite& write) override { observers_.writes(node, write); }
  void synced(uint32_t node) override;
  void turned(uint32_t node, EngineEffects& effects) override;
  void sending(uint32_t node, ReplicaId to, const Message& message) override { observers_.sends(node, to, message); }
  void answered(uint32_t node) override { observers_.answered(node); }
  void tells_remotes(uint32_t node, std::vector<std::pair<ReplicaId, Frame>> frames) override {
    users_->told(node, std::move(frames));
  }

  void dispatch(const Event& event);
  void check_history();

  // The phases of a run (cluster_calm.cc).
  void hostile_phase();
  void heal();
  bool calm_phase();
  void bring_everybody_back();
  void await_dead_sessions();
  void await_rest();
  void check_by_author() const;
  template <typename Condition>
  bool run_until(TrueTime end, Condition condition);

  World& world_;
  const Plan& plan_;
  const SimOptions& options_;
  Random random_;
  Network network_;
  std::vector<std::unique_ptr<Node>> nodes_;
  Observers observers_;
  Churn churn_;
  Connections connections_;
  Processes processes_;
  Scrubs scrubs_;
  Faults faults_;
  Script script_;
  Convergence convergence_;
  std::unique_ptr<Users> users_;  // after the nodes they use
};

}  // namespace coordkit::sim
