#include "sim/nodes/cluster.h"

#include <fmt/format.h>

#include "raft/members/configuration_rules.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {

Cluster::Cluster(World& world, const Plan& plan, const SimOptions& options)
    : world_(world),
      plan_(plan),
      options_(options),
      random_(world.fork_random()),
      network_(world, plan.nodes, world.fork_random()),
      observers_(world, plan, options, nodes_),
      churn_(world, plan, nodes_, observers_.consensus, observers_.promises, observers_.counts, world.fork_random()),
      connections_(world, network_, nodes_, random_),
      processes_(world, plan, nodes_, observers_.consensus, churn_, observers_.situations, random_),
      scrubs_(world, plan, nodes_, observers_.situations, random_),
      faults_({world, plan, nodes_, network_, connections_, processes_, scrubs_, observers_.consensus, churn_,
               observers_.situations, observers_.lists, observers_.geneses},
              options.reduction, random_),
      script_(world, nodes_, observers_.consensus, processes_, faults_),
      convergence_(plan, nodes_, observers_.callers, observers_.consensus, observers_.model, observers_.witness.calls()) {
  const Random for_programs = options.program ? world.fork_random() : Random(0);  // before the nodes draw theirs
  network_.set_quality(plan.calm);
  network_.set_stale_delivery(plan.stale_delivery);
  for (uint32_t i = 0; i < plan.nodes; ++i) {
    const NodeParts parts{world_, network_, *this, plan_, options_.defects, options_, observers_.lists};
    nodes_.push_back(std::make_unique<Node>(parts, i, world.fork_random()));
    observers_.watch(*nodes_[i]);
  }
  std::unique_ptr<Remotes> remotes;
  if (plan.remotes.count != 0) {
    const NodeParts parts{world_, network_, *this, plan_, options_.defects, options_, observers_.lists};
    remotes = std::make_unique<Remotes>(parts, nodes_, observers_, world_.fork_random());
  }
  users_ = std::make_unique<Users>(world_, plan_, options_, nodes_, observers_, for_programs);
  users_->add(std::move(remotes));
}

// Clients end their calls when destroyed: the work they were made for must still exist.
Cluster::~Cluster() {
  users_->look_away();
  for (auto& node : nodes_) node->retire();
  users_->retire();
}

void Cluster::run() {
  if (options_.script) options_.script(script_);
  faults_.first_start().begin();
  for (uint32_t node = 0; node < plan_.nodes; ++node) processes_.start(node);
  users_->start();
  hostile_phase();
  const bool converged = calm_phase();
  if (converged) observers_.witness.finish();
  if (observers_.history) check_history();
  if (converged) check_by_author();
}

void Cluster::check_history() {
  if (options_.on_history) observers_.history->write(options_.on_history);
  observers_.searched = observers_.history->check();
}

void Cluster::dispatch(const Event& event) {
  const bool without_replica = event.node >= plan_.nodes && event.node != kNoNode;
  switch (event.kind) {
    case EventKind::Turn:
    case EventKind::Timer:
    case EventKind::LogSynced:
    case EventKind::LogReadDone:
    case EventKind::LogIdle:
    case EventKind::StateSynced:
    case EventKind::StateDone: return without_replica ? users_->event(event) : nodes_[event.node]->event(event);
    case EventKind::Deliver: return connections_.deliver(event);
    case EventKind::Connect: return connections_.connect(event.node, static_cast<uint32_t>(event.item));
    case EventKind::Disconnect: return connections_.disconnect(event.node, static_cast<uint32_t>(event.item));
    case EventKind::FaultBegin: return faults_.begin_event(event);
    case EventKind::FaultEnd: return faults_.end_event(event);
    case EventKind::Restart: return processes_.start(event.node);
    case EventKind::Resume: return processes_.resume_event(event);
    case EventKind::Churn: return event.node == kNoNode ? churn_.event() : churn_.event_at(event.node);
    case EventKind::Overtaking: return faults_.overtaking_event(event);
    case EventKind::FirstStart: return faults_.first_start().event(event);
    case EventKind::Scrub: return scrubs_.event(event);
    case EventKind::Script: return script_.event(event);
    case EventKind::Worker:
    case EventKind::Resource:
    case EventKind::Program:
    case EventKind::Watcher:
    case EventKind::Stream:
    case EventKind::Link:
    case EventKind::Remote: return users_->event(event);
  }
}

// ---- what a node does

void Cluster::started(uint32_t node) {
  observers_.started(node);
  connections_.process_started(node);
  users_->process_started(node);
  faults_.first_start().process_started(node);
  scrubs_.process_started(node);
}

void Cluster::stopped(uint32_t node) {
  observers_.stopped(node);
  churn_.process_died(node);
  faults_.process_stopped(node);
  users_->process_died(node);
  processes_.stopped(node);
  connections_.process_stopped(node);
}

void Cluster::synced(uint32_t node) {
  observers_.synced(node);
  churn_.synced(node);
}

void Cluster::turned(uint32_t node, EngineEffects& effects) {
  scrubs_.turned(node);
  observers_.turned(node, effects);
  churn_.answered(node, effects);
  faults_.turned(node, effects);
  users_->answered(node, effects);
  if (effects.cluster) connections_.tell_cluster(node);
  observers_.apply_committed();
}

// INV_R23. Asked in the very turn in which a replica on a rolled-back disk takes part again, before anything leaves.
bool Cluster::may_go_on(uint32_t node) {
  Promises& promises = observers_.promises;
  promises.turned(node);
  LogDisk& log = nodes_[node]->stores().log().disk();
  const raft::Core* core = nodes_[node]->engine()->core();
  if (log.stands_for(log.id()) || core == nullptr || !core->rollback_checked()) return true;
  if (churn_.mixed_up(node)) {
    // At its start the directory may name no owner: its members were exchanged since. While no members name this replica on it,
    // nobody counts its votes and acknowledgements.
    const raft::Member* member = raft::member_of(core->configuration(), nodes_[node]->id());
    if (member == nullptr || member->store != log.id()) return true;
    throw Violation("INV_R23", fmt::format("n{} takes part with a copy of another replica's disk", node + 1));
  }
  const Promises::Verdict verdict = promises.judge(node);
  if (verdict == Promises::Verdict::Known) {
    throw Violation("INV_R23",
                    fmt::format("n{} takes part with a disk that forgot what the answering members had heard", node + 1));
  }
  if (verdict == Promises::Verdict::Unasked) {
    throw Violation("INV_R23",
                    fmt::format("n{} takes part with a disk that was set back, and no majority was asked", node + 1));
  }
  if (verdict == Promises::Verdict::Unknown) return false;
  reached(Situation::SetBackHarmless);
  world_.trace(node, "has forgotten nothing that matters");
  promises.stands_again(node);
  log.stand_again();
  return true;
}

// Beyond the promise: none that answered could know. All that would follow proves nothing, so an operator steps in.
void Cluster::pulled_out(uint32_t node) {
  reached(Situation::SetBackUnnoticed);
  processes_.replace_disk(node);
  processes_.start_soon(node);
}

void Cluster::fill(Report& report) const {
  for (const auto& node : nodes_) report.turns += node->turns();
  report.crashes = processes_.crashes();
  report.messages = network_.counters().sent;
  faults_.schedule().fill(report);
  observers_.fill(report);
}

}  // namespace coordkit::sim
