// All that watches a run and judges it, each from what replicas write, send and answer, and from what callers see. The model
// of the machine follows the committed entries, as soon as any replica has applied them.
#pragma once

#include <memory>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/faults/member_lists.h"
#include "sim/keys/lease_observer.h"
#include "sim/locks/lock_observer.h"
#include "sim/nodes/node.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/oracle/genesis_observer.h"
#include "sim/oracle/hand_over_observer.h"
#include "sim/oracle/model.h"
#include "sim/oracle/promises.h"
#include "sim/oracle/retention_observer.h"
#include "sim/oracle/situation_observer.h"
#include "sim/oracle/witness.h"
#include "sim/plan.h"
#include "sim/record/history_recorder.h"
#include "sim/world/world.h"

namespace coordkit::sim {

// Its parts are handed to the code that needs them. Here is what they have in common: the events of a node, in their order.
struct Observers {
  Observers(World& world, const Plan& plan, const SimOptions& options, const std::vector<std::unique_ptr<Node>>& nodes);
  Observers(const Observers&) = delete;  // its parts refer to each other
  Observers& operator=(const Observers&) = delete;

  void watch(Node& node);  // for the whole run
  void started(uint32_t node);
  void handles(uint32_t node, const EngineInput& input);
  void stopped(uint32_t node);
  void writes(uint32_t node, const LogWrite& write);
  void checkpoints(uint32_t node, const CheckpointBatch& batch);
  void synced(uint32_t node);
  void sends(uint32_t node, ReplicaId to, const Message& message);
  void turned(uint32_t node, const EngineEffects& effects);
  void apply_committed();
  void answered(uint32_t node);
  void looked(Caller& caller, uint32_t node);  // of either kind, after its turn
  void fill(Report& report) const;

  World& world;
  const Plan& plan;
  const std::vector<std::unique_ptr<Node>>& nodes;
  Callers callers;  // the nodes, then the processes without a replica
  MemberLists lists;
  SituationCounts counts{};
  Model model;
  ConsensusObserver consensus;
  GenesisObserver geneses;
  HandOverObserver hand_overs;
  Promises promises;
  RetentionObserver retention;
  LockObserver locks;
  LeaseObserver leases;
  std::unique_ptr<HistoryRecorder> history;  // if this run's history is searched
  Witness witness;
  SituationObserver situations;
  HistoryRecorder::Result searched;

 private:
  const CommittedEntry& apply(Index index);
  void record_standing(uint32_t node);
};

}  // namespace coordkit::sim
