#include "sim/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "machine/reads.h"
#include "sim/defects.h"
#include "sim/recorder.h"
#include "sim/streams.h"
#include "sim/violation.h"
#include "sim/watchers.h"

namespace coordkit::sim {
namespace {

bool records(const SimOptions& options) {
  if (options.on_history) return true;
  constexpr uint64_t kOneIn = 10;
  return options.black_box == BlackBox::Always ||
         (options.black_box == BlackBox::Sampled && hash_mix(0, options.seed) % kOneIn == 0);
}

Beliefs beliefs_in(const SimOptions& options) { return options.watch_holders ? Beliefs::Judged : Beliefs::Ignored; }

}  // namespace

using std::chrono::milliseconds;

Cluster::Cluster(World& world, const Plan& plan, const SimOptions& options)
    : world_(world),
      plan_(plan),
      options_(options),
      random_(world.fork_random()),
      striking_(random_.fork()),
      network_(world, plan.nodes, world.fork_random()),
      consensus_(world, plan.nodes, situations_),
      promises_(world, nodes_),
      churn_(world, plan, nodes_, consensus_, promises_, situations_, world.fork_random()),
      locks_(world, model_, nodes_, beliefs_in(options)),
      leases_(world, model_, nodes_, beliefs_in(options)),
      witness_(world, model_, options.witness ? Witness::Duty::Judge : Witness::Duty::Count),
      history_recorder_(records(options) ? std::make_unique<HistoryRecorder>(world) : nullptr),
      programs_(world, options, nodes_, options.program ? world.fork_random() : Random(0)),
      stage_(make_stage()),
      slow_(plan.nodes),
      in_turn_until_(plan.nodes),
      rotten_since_(plan.nodes),
      lacks_(plan.nodes) {
  for (size_t i = 0; i < plan.faults.size(); ++i) schedules_.push_back(random_.fork());
  if (options_.defects.one_state_rots) consensus_.look_away_from_states();
  witness_.set_history_recorder(history_recorder_.get());
  witness_.set_plain_locks(!plan_.work.lock_family && plan_.work.session_change_share == 0);
  if (options_.machines) {
    std::vector<MachineId> ids;
    for (const HostedMachine& hosted : options_.machines(ReplicaId(1))) ids.push_back(hosted.id);
    consensus_.also_watch(std::move(ids));
  }
  network_.set_quality(plan.calm);
  network_.set_stale_delivery(plan.stale_delivery);
  for (uint32_t i = 0; i < plan.nodes; ++i) {
    const NodeParts parts{world_, network_, *this, plan_, options_.defects, options_};
    nodes_.push_back(std::make_unique<Node>(parts, i, world.fork_random()));
    consensus_.own(i, nodes_[i]->log(), nodes_[i]->state());
    nodes_[i]->log().set_history([this](Position at) { return consensus_.chain(at); });
    nodes_[i]->log().set_forgetful([this, i](const SimLogStore::Image& now) {
      promises_.set_back(i, {now.log, nodes_[i]->state().applied(), now.boot, TrueTime()});
      consensus_.disk_lost(i);
      reach(Situation::ShortLogFound);
    });
  }
  workload_ = std::make_unique<Workload>(world_, plan_, options_.defects, nodes_, locks_, leases_, witness_, situations_,
                                         world.fork_random());
  if (plan_.work.watchers != 0) {
    roamers_[EventKind::Watcher] = std::make_unique<Watchers>(world_, plan_, nodes_, model_, situations_, world.fork_random());
  }
  if (plan_.work.observers != 0) {
    roamers_[EventKind::Stream] = std::make_unique<Streams>(world_, plan_, nodes_, model_, situations_, world.fork_random());
  }
}

// Clients end their calls when destroyed: the work they were made for must still exist.
Cluster::~Cluster() {
  for (const auto& [event, roamers] : roamers_) roamers->look_away();
  for (auto& node : nodes_) node->retire();
  programs_.retire();
}

void Cluster::run() {
  begin_script();
  for (uint32_t node = 0; node < plan_.nodes; ++node) restart(node);
  for (const auto& [event, roamers] : roamers_) roamers->start();
  hostile_phase();
  const bool converged = calm_phase();
  if (converged) witness_.finish();
  if (history_recorder_) check_history();
  if (converged) check_by_author();
}

void Cluster::check_history() {
  if (options_.on_history) history_recorder_->write(options_.on_history);
  history_ = history_recorder_->check();
}

void Cluster::dispatch(const Event& event) {
  switch (event.kind) {
    case EventKind::Turn: return nodes_[event.node]->turn_event(event);
    case EventKind::Timer: return nodes_[event.node]->timer_event(event);
    case EventKind::Deliver: return deliver(event);
    case EventKind::Connect: return connect(event.node, static_cast<uint32_t>(event.item));
    case EventKind::Disconnect: return disconnect(event.node, static_cast<uint32_t>(event.item));
    case EventKind::LogSynced: return nodes_[event.node]->log_synced(event);
    case EventKind::LogReadDone: return nodes_[event.node]->log().read_done(event);
    case EventKind::LogIdle: return nodes_[event.node]->log().idle(event);
    case EventKind::StateSynced: return nodes_[event.node]->state().synced(event);
    case EventKind::StateDone: return nodes_[event.node]->state_done(event);
    case EventKind::Worker: return workload_->worker_event(event);
    case EventKind::Resource: return workload_->resource_event(event);
    case EventKind::FaultBegin: return fault_begin(event);
    case EventKind::FaultEnd: return fault_end(event);
    case EventKind::Restart: return restart(event.node);
    case EventKind::Churn: return event.node == kNoNode ? churn_.event() : churn_.event_at(event.node);
    case EventKind::Scrub: return scrub(event);
    case EventKind::Program: return programs_.event(event);
    case EventKind::Script: return script_event(event);
    case EventKind::Watcher:
    case EventKind::Stream: return roamers_.at(event.kind)->event(event);
    case EventKind::Resume:
      if (event.epoch == nodes_[event.node]->epoch() && nodes_[event.node]->frozen()) {
        resume(event.node);
      }
      return;
  }
}

// ---- the links

void Cluster::deliver(const Event& event) {
  std::unique_ptr<Parcel> parcel = network_.arrive(event.item);
  if (parcel) nodes_[parcel->to]->receive(std::move(parcel));
}

// Both processes must run, and both directions must pass, or it is retried later.
void Cluster::connect(uint32_t a, uint32_t b) {
  if (network_.connected(a, b) && network_.connected(b, a)) return;
  Node& left = *nodes_[a];
  Node& right = *nodes_[b];
  if (!left.up() || !right.up()) return;  // the restart will try
  if (!network_.passes(a, b) || !network_.passes(b, a)) {
    return world_.schedule(world_.now() + milliseconds(20) + Duration(random_.below(50'000'000)), EventKind::Connect, a, 0, b);
  }
  network_.connect(a, b);
  world_.trace(a, "is connected with n{}", b + 1);
  left.post(PeerConnected{right.hello_to(left)});
  right.post(PeerConnected{left.hello_to(right)});
}

void Cluster::disconnect(uint32_t node, uint32_t peer) {
  if (!network_.connected(node, peer)) return;
  network_.disconnect(node, peer);
  world_.trace(node, "has lost n{}", peer + 1);
  nodes_[node]->post(PeerLost{ReplicaId(peer + 1)});
  world_.schedule(world_.now() + Duration(random_.below(20'000'000)), EventKind::Connect, node, 0, peer);
}

void Cluster::reconnect_all(uint32_t node, Duration longest) {
  for (uint32_t peer = 0; peer < plan_.nodes; ++peer) {
    if (peer == node) continue;
    world_.schedule(world_.now() + Duration(random_.below(longest.count())), EventKind::Connect, node, 0, peer);
  }
}

// A store that adopted a genesis sends its hello again on existing connections.
void Cluster::tell_cluster(uint32_t node) {
  for (uint32_t peer = 0; peer < plan_.nodes; ++peer) {
    if (peer == node || !network_.connected(peer, node) || !nodes_[peer]->up()) continue;
    nodes_[peer]->post(PeerConnected{nodes_[node]->hello_to(*nodes_[peer])});
  }
}

// ---- observing

void Cluster::started(uint32_t node) {
  consensus_.attach(node, *nodes_[node]->engine());
  promises_.started(node);
  reconnect_all(node, milliseconds(20));
  if (workload_) workload_->process_started(node);
  programs_.process_started(node);
  if (plan_.scrub_interval != Duration()) plan_scrub(node);
}

void Cluster::stopped(uint32_t node) {
  ++crashes_;
  note_lost(node);
  churn_.process_died(node);
  consensus_.detach(node);
  promises_.stopped(node);
  for (ActiveFault& fault : faults_) {
    if (fault.kind == FaultKind::Suspend && fault.node == node) undo(fault);  // a starting machine is awake
  }
  workload_->process_died(node);
  programs_.process_died(node);
  // Its next turn may come later than its planned restart, if it stood still.
  const TrueTime back_by = std::exchange(in_turn_until_[node], TrueTime{});
  if (back_by != TrueTime{} && back_by <= world_.now()) restart_soon(node);
  for (uint32_t peer = 0; peer < plan_.nodes; ++peer) {
    if (peer == node) continue;
    network_.disconnect(node, peer);
    // The peer notices soon, late, or only when the process is back.
    const Duration notice = Duration(random_.below(random_.chance(0.5) ? 5'000'000 : 2'000'000'000));
    world_.schedule(world_.now() + notice, EventKind::Disconnect, peer, 0, node);
  }
}

void Cluster::writing(uint32_t node, const LogWrite& write) {
  if (Recorder* recorder = world_.recorder()) recorder->writes(node, write);
  consensus_.write(node, write);
  promises_.writes(node, write.number);
}

void Cluster::synced(uint32_t node) {
  record_standing(node);
  consensus_.synced(node);
  promises_.synced(node);
  churn_.synced(node);
}

void Cluster::record_standing(uint32_t node) {
  Recorder* const recorder = world_.recorder();
  if (recorder && nodes_[node]->up()) recorder->stands(node, *nodes_[node]->engine(), nodes_[node]->log());
}

void Cluster::sending(uint32_t node, ReplicaId to, const Message& message) {
  consensus_.send(node, to, message);
  note_message(node, message);
}

void Cluster::turned(uint32_t node, EngineEffects& effects) {
  record_standing(node);
  if (rotten_since_[node] != 0) look_for_healed(node);
  look_for_mended(node);
  if (effects.restored) {
    consensus_.restored(node, *effects.restored);
    note_installed(node);
  }
  consensus_.after_turn(node);
  note_turn(node);
  churn_.answered(node, effects);
  programs_.answered(node, effects);
  if (effects.cluster) tell_cluster(node);
  while (model_.applied() < consensus_.applied()) {
    const Index next = model_.applied().next();
    const CommittedEntry& entry = consensus_.at(next);
    model_.apply(next, entry.term, entry.kind, entry.payload.view());
    if (Recorder* recorder = world_.recorder()) recorder->applied(model_, entry.term);
    locks_.entry_applied();
    leases_.entry_applied();
  }
}

void Cluster::answered(uint32_t node) {
  if (Recorder* recorder = world_.recorder()) recorder->looked(node, nodes_[node]->clock());
  locks_.looked(node);
  leases_.looked(node);
  if (nodes_[node]->turns() % 32 == 0 && nodes_[node]->engine()->applied() == model_.applied()) compare_with_model(node);
}

namespace {

std::string requests_of(const auto& waiters) {
  std::string text;
  for (const auto& waiter : waiters) {
    text += fmt::format("{}n{} boot {} request {}", text.empty() ? "" : ", ", waiter.request.origin.replica.value(),
                        waiter.request.origin.boot.value(), waiter.request.sequence.value());
  }
  return text.empty() ? "empty" : text;
}

}  // namespace

// INV_L01, L05, L06, L07: what this replica would answer equals the model, lock by lock.
void Cluster::compare_with_model(uint32_t node) {
  const machine::Reads& reads = *nodes_[node]->engine()->machine(kCoordination)->reads();
  for (uint32_t i = 0; i < plan_.work.locks; ++i) {
    const std::string name = fmt::format("lock-{}", i);
    const machine::Holders holders = reads.holders_of(name);
    const machine::LockQueue queue = reads.queue_of(name, 0);
    const auto same_hold = [](const machine::HolderInfo& told, const LockModel::Claim& hold) {
      return told.token == hold.token && told.count == hold.count;
    };
    if (!std::ranges::equal(holders.holders, model_.locks().holds(name), same_hold)) {
      throw Violation(
          "INV_L01",
          fmt::format("n{}: the holder of {} after {} differs from the log's", node + 1, name, model_.applied().value()),
          {.index = model_.applied(), .lock = name});
    }
    const auto same_wait = [](const WaiterInfo& told, const LockModel::Claim& wait) { return told.request == wait.request; };
    if (!std::ranges::equal(queue.waiters, model_.locks().queue(name), same_wait)) {
      throw Violation(
          "INV_L05",
          fmt::format("n{}: the queue of {} after {} is {}, by the log it is {}", node + 1, name, model_.applied().value(),
                      requests_of(queue.waiters), requests_of(model_.locks().queue(name))),
          {.index = model_.applied(), .lock = name});
    }
  }
  compare_objects(node);
}

// The same for semaphores, barriers and the like.
void Cluster::compare_objects(uint32_t node) const {
  using coordination::Kind;
  if (plan_.work.coordination_share == 0) return;
  const machine::Reads& reads = *nodes_[node]->engine()->machine(kCoordination)->reads();
  for (const Kind kind :
       {Kind::Semaphore, Kind::Latch, Kind::Barrier, Kind::DoubleBarrier, Kind::Queue, Kind::Counter, Kind::Group}) {
    for (const std::string name : {"object-0", "object-1"}) {
      if (reads.object(kind, name, 0) == model_.coordination().look({kind, name})) continue;
      throw Violation("INV_L01",
                      fmt::format("n{}: {} of kind {} after {} differs from the log's", node + 1, name, static_cast<int>(kind),
                                  model_.applied().value()),
                      {.index = model_.applied()});
    }
  }
}

void Cluster::fill(Report& report) const {
  report.nodes = plan_.nodes;
  report.workers = plan_.work.workers_per_node;
  report.hostile = plan_.hostile;
  report.virtual_time = world_.now().time_since_epoch();
  report.events = world_.events();
  report.trace_hash = world_.trace_hash();
  for (const auto& node : nodes_) report.turns += node->turns();
  report.grants = model_.grants();
  report.releases = model_.releases();
  report.expiries = model_.expiries();
  report.elections = consensus_.elections();
  report.strikes = strikes_;
  report.struck = struck_;
  report.crashes = crashes_;
  report.operations = witness_.operations();
  report.entries = consensus_.committed().value();
  report.messages = network_.counters().sent;
  report.histories = history_recorder_ ? 1 : 0;
  report.histories_undecided = history_.decided ? 0 : 1;
  report.history_operations = history_.operations;
  report.installs = consensus_.installs();
  report.faults = fault_counts_;
  report.situations = situations_;
}

}  // namespace coordkit::sim
