// A run in which, once, a fault strikes that no cluster is promised to survive (FLT_P27, FLT_P18). Most disks are set back to
// older images of themselves. Or a copied directory is started beside the original, and the network is cut between them. The
// two histories that may follow meet when the network is whole again. Other faults strike until then (background.h). One judge
// looks at the outcomes (history_judge.h), because all other observers assume the fault model.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/faults/member_lists.h"
#include "sim/histories/background.h"
#include "sim/histories/doubles.h"
#include "sim/histories/history_judge.h"
#include "sim/histories/history_users.h"
#include "sim/histories/images.h"
#include "sim/nodes/node.h"
#include "sim/plan.h"
#include "sim/world/connections.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Histories final : private NodeWatcher {
 public:
  Histories(World& world, const Plan& plan, const SimOptions& options);
  ~Histories() override;

  // To the end, or until a Violation is thrown.
  void run();
  void fill(Report& report) const;

 private:
  // NodeWatcher
  void started(uint32_t place) override;
  void stopped(uint32_t place) override;
  void halted(uint32_t) override {}
  void resumed(uint32_t) override {}
  void pulled_out(uint32_t) override {}
  void reached(Situation situation) override { reach(situation); }
  void checkpointing(uint32_t, const CheckpointBatch&) override {}
  void handling(uint32_t, const EngineInput&) override {}
  bool may_go_on(uint32_t) override { return true; }
  void writing(uint32_t, const LogWrite&) override {}
  void synced(uint32_t) override {}
  void turned(uint32_t place, EngineEffects& effects) override;
  void sending(uint32_t, ReplicaId, const Message&) override {}
  void answered(uint32_t) override {}
  void told(uint32_t place, const ReplicaEvent& event) override;
  bool beyond_promise() const override { return struck_; }

  void dispatch(const Event& event);
  void settle();
  void hear_warnings();
  Index applied() const;
  void pass(Duration time);
  void start(uint32_t place);
  void strike();
  void set_back_a_majority();
  void copy_a_directory();
  void heal();
  std::vector<uint32_t> draw_members();
  void reach(Situation situation) { ++counts_[static_cast<size_t>(situation)]; }

  World& world_;
  const Plan& plan_;
  Random random_;
  MemberLists lists_;
  Network network_;
  std::vector<std::unique_ptr<Node>> nodes_;  // one for each place
  Connections connections_;
  Doubles doubles_;
  Background background_;
  Evidence evidence_;
  HistoryUsers users_;
  Images images_;
  SituationCounts counts_{};
  TrueTime now_{};  // as far as the run has passed
  bool struck_ = false;
};

}  // namespace coordkit::sim
