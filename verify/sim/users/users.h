// Everything that uses the cluster: coordkit's own workers, the programs of an embedder, and programs that go from node to
// node. They live and die with the processes they run in, and the end of a run has to wait for them.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/nodes/node.h"
#include "sim/nodes/programs.h"
#include "sim/oracle/observers.h"
#include "sim/plan.h"
#include "sim/remotes/remotes.h"
#include "sim/users/roaming_programs.h"
#include "sim/users/workload.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Users {
 public:
  Users(World& world, const Plan& plan, const SimOptions& options, std::vector<std::unique_ptr<Node>>& nodes,
        Observers& observers, Random for_programs);
  // Processes without a replica; before start().
  void add(std::unique_ptr<Remotes> remotes);

  void start();
  void process_started(uint32_t node);
  void process_died(uint32_t node);
  void process_resumed(uint32_t node);
  void told(uint32_t gateway, std::vector<std::pair<ReplicaId, Frame>> frames);
  void calm_remotes();  // no fault strikes them any more
  void event(const Event& event);
  void answered(uint32_t node, const EngineEffects& effects) { programs_.answered(node, effects); }
  bool ended() const { return programs_.ended(); }  // one of the programs has finished

  // No new work; then the rest comes to rest as well.
  void end_work() {
    workload_.wind_down();
    programs_.calm();
  }
  void wind_down();
  bool done() const;
  void demand_all_caught_up() const;  // throws Violation

  // The run is over, however it went. In between, the nodes' clients end their calls.
  void look_away();
  void retire();

 private:
  bool all_caught_up() const;

  Programs programs_;
  Workload workload_;
  std::map<EventKind, std::unique_ptr<RoamingPrograms>> roamers_;  // by the event that wakes them
  std::unique_ptr<Remotes> remotes_;                               // null: none
};

}  // namespace coordkit::sim
