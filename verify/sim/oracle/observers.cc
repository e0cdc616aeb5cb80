#include "sim/oracle/observers.h"

#include <fmt/format.h>

#include <utility>

#include "engine/apply/router_meta.h"
#include "engine/calls/origins.h"
#include "sim/faults/defects.h"
#include "sim/locks/trust_check.h"
#include "sim/oracle/model_comparison.h"
#include "sim/oracle/violation.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {
namespace {

bool records(const SimOptions& options) {
  if (options.on_history) return true;
  constexpr uint64_t kOneIn = 10;
  return options.black_box == BlackBox::Every ||
         (options.black_box == BlackBox::Sampled && hash_mix(0, options.seed) % kOneIn == 0);
}

TrustCheck beliefs_in(const SimOptions& options) { return options.watch_holders ? TrustCheck::Judged : TrustCheck::Ignored; }

Calls::Locks locks_in(const WorkPlan& work) {
  return work.lock_family || work.session_change_share != 0 ? Calls::Locks::Any : Calls::Locks::Plain;
}

}  // namespace

Observers::Observers(World& the_world, const Plan& the_plan, const SimOptions& options,
                     const std::vector<std::unique_ptr<Node>>& all_nodes)
    : world(the_world),
      plan(the_plan),
      nodes(all_nodes),
      lists(plan),
      consensus(world, plan.nodes, counts, lists.differ()),
      geneses(plan, nodes, lists, counts),
      hand_overs(plan.election_timeout, plan.turn_latency_max, nodes),
      promises(world, nodes),
      retention(plan, options, nodes, consensus.members()),
      locks(world, model, callers, beliefs_in(options)),
      leases(world, model, callers, beliefs_in(options)),
      history(records(options) ? std::make_unique<HistoryRecorder>(world) : nullptr),
      witness(world, model, options.witness ? Witness::Duty::Judge : Witness::Duty::Count, history.get(), locks_in(plan.work),
              beliefs_in(options)),
      situations(world, plan.election_timeout, nodes, consensus, counts) {
  if (options.defects.one_state_rots) consensus.look_away_from_states();
  if (!options.machines) return;
  std::vector<MachineId> ids;
  for (const HostedMachine& hosted : options.machines(ReplicaId(1))) ids.push_back(hosted.id);
  consensus.also_watch(std::move(ids));
}

void Observers::watch(Node& node) {
  callers.push_back(&node);
  consensus.own(node.number(), node.stores().log(), node.stores().state());
  LogDisk& disk = node.stores().log().disk();
  disk.set_history([this](Position at) { return consensus.chain(at); });
  disk.set_forgetful([this, &node](const LogDisk::Image& now) {
    promises.set_back(node.number(), {now.log, node.stores().state().applied(), now.boot, TrueTime()});
    consensus.disk_lost(node.number());
    situations.reach(Situation::ShortLogFound);
  });
}

void Observers::started(uint32_t node) {
  consensus.attach(node, *nodes[node]->engine());
  geneses.started(node);
  promises.started(node);
  retention.started(node);
}

void Observers::handles(uint32_t node, const EngineInput& input) {
  promises.handles(node, input);
  retention.handles(node, input);
}

void Observers::stopped(uint32_t node) {
  situations.lost(node);
  consensus.detach(node);
  hand_overs.stopped(node);
  promises.stopped(node);
}

void Observers::writes(uint32_t node, const LogWrite& write) {
  if (Recorder* recorder = world.recorder()) recorder->entries().writes(node, write);
  geneses.writes(node, write);
  consensus.write(node, write);
  promises.writes(node, write.number);
}

void Observers::checkpoints(uint32_t node, const CheckpointBatch& batch) {
  if (batch.whole) situations.reach(Situation::StateRewritten);
  const std::string origins = engine::origins_prefix();
  uint64_t level = 0;
  bool apart = false;
  for (const CheckpointBatch::Row& row : batch.rows) {
    if (row.key == engine::meta_key()) level = engine::decode_router_meta(*row.value)->feature_level;
    apart = apart || (row.value && row.key.starts_with(origins) && row.key.size() > origins.size() + sizeof(uint64_t));
  }
  if (!apart) return;
  situations.reach(Situation::LargeAnswerStored);
  if (level >= engine::Origins::kAnswerRowsLevel) return;
  throw Violation("INV_S08", fmt::format("n{} gives an answer a row of its own at feature level {}", node + 1, level));
}

void Observers::synced(uint32_t node) {
  record_standing(node);
  consensus.synced(node);
  geneses.synced(node);
  promises.synced(node);
}

void Observers::sends(uint32_t node, ReplicaId to, const Message& message) {
  consensus.send(node, to, message);
  retention.sends(node, to, message);
  situations.sends(node, message);
}

void Observers::turned(uint32_t node, const EngineEffects& effects) {
  record_standing(node);
  if (effects.restored) {
    consensus.restored(node, *effects.restored);
    situations.installed(node);
  }
  consensus.after_turn(node);
  geneses.turned(node);
  retention.turned(node, effects);
  hand_overs.turned(node);
  situations.turned(node);
}

const CommittedEntry& Observers::apply(Index index) {
  const CommittedEntry& entry = consensus.at(index);
  model.apply(index, entry.term, entry.kind, entry.payload.view());
  return entry;
}

void Observers::apply_committed() {
  if (model.applied() == Index(1) && consensus.applied() > Index(1)) apply(Index(1));  // what follows has settled the genesis
  while (model.applied() < consensus.applied()) {
    const CommittedEntry& entry = apply(model.applied().next());
    if (Recorder* recorder = world.recorder()) recorder->applied(model, entry.term);
    locks.entry_applied();
    leases.entry_applied();
  }
}

void Observers::answered(uint32_t node) {
  Node& replica = *nodes[node];
  looked(replica, node);
  if (replica.turns() % 32 == 0 && replica.engine()->applied() == model.applied())
    compare_with_model(replica, model, plan.work);
}

void Observers::looked(Caller& caller, uint32_t node) {
  if (Recorder* recorder = world.recorder()) recorder->grants().looked(node, caller.clock());
  locks.looked(node);
  leases.looked(node);
}

void Observers::record_standing(uint32_t node) {
  Recorder* const recorder = world.recorder();
  if (recorder && nodes[node]->up()) recorder->processes().stands(node, *nodes[node]->engine(), nodes[node]->stores().log());
}

void Observers::fill(Report& report) const {
  report.grants = model.locks().grants();
  report.releases = model.locks().releases();
  report.expiries = model.sessions().expiries();
  report.elections = consensus.elections();
  report.entries = consensus.committed().value();
  report.installs = consensus.installs();
  report.operations = witness.calls().all().size();
  report.histories = history ? 1 : 0;
  report.histories_undecided = searched.decided ? 0 : 1;
  report.history_operations = searched.operations;
  report.situations = counts;
  report.situations[static_cast<size_t>(Situation::RemoteForgotten)] = model.origins_that_came_back();
  for (const Call& call : witness.calls().all()) {
    if (call.node < plan.nodes) continue;
    if (call.answered) ++report.situations[static_cast<size_t>(Situation::RemoteAnswered)];
    if (call.in_doubt) ++report.situations[static_cast<size_t>(Situation::RemoteInDoubt)];
  }
}

}  // namespace coordkit::sim
