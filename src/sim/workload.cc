#include "sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/draw.h"
#include "sim/recorder.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

Workload::Workload(World& world, const Plan& plan, const Defects& defects, std::vector<std::unique_ptr<Node>>& nodes,
                   LockObserver& locks, LeaseObserver& leases, Witness& witness, SituationCounts& situations, Random random)
    : world_(world),
      plan_(plan),
      defects_(defects),
      nodes_(nodes),
      locks_(locks),
      leases_(leases),
      witness_(witness),
      situations_(situations),
      random_(random) {
  for (uint32_t node = 0; node < plan.nodes; ++node) {
    for (uint32_t i = 0; i < plan.work.workers_per_node; ++i) {
      Worker& worker = workers_.emplace_back();
      worker.node = node;
      worker.number = workers_.size() - 1;
      worker.random = random_.fork();
    }
  }
}

// ---- steps

void Workload::schedule(Worker& worker, Duration longest) {
  const Duration after(worker.random.below(longest.count() + 1));
  world_.schedule(world_.now() + after, EventKind::Worker, worker.node, nodes_[worker.node]->epoch(),
                  ++worker.step << 16 | worker.number);
}

void Workload::process_started(uint32_t node) {
  for (Worker& worker : workers_) {
    if (worker.node == node) schedule(worker, plan_.work.think_max);
  }
}

void Workload::process_died(uint32_t node) {
  locks_.process_died(node);
  leases_.process_died(node);
  witness_.process_died(node);
  for (Worker& worker : workers_) {
    if (worker.node != node) continue;
    worker.session = nullptr;
    worker.lease = nullptr;
    worker.holds.clear();
    worker.things.clear();
    worker.state = State::Idle;
    worker.stepping_late = false;
    ++worker.step;
  }
}

void Workload::process_resumed(uint32_t node) {
  for (Worker& worker : workers_) {
    if (worker.node == node && std::exchange(worker.stepping_late, false)) act(worker);
  }
}

void Workload::worker_event(const Event& event) {
  Worker& worker = workers_[event.item & 0xffff];
  const Node& node = *nodes_[worker.node];
  if (!node.up() || event.epoch != node.epoch() || event.item >> 16 != worker.step) return;
  if (node.frozen()) {
    worker.stepping_late = true;
    return;
  }
  act(worker);
}

void Workload::act(Worker& worker) {
  if (Recorder* recorder = world_.recorder()) recorder->acting(worker.number);
  if (winding_down_) {
    act_winding_down(worker);
  } else if (worker.state == State::Idle) {
    act_idle(worker);
  } else if (worker.state == State::Holding) {
    act_holding(worker);
  } else {
    act_calling(worker);
  }
  nodes_[worker.node]->wake();
}

void Workload::act_idle(Worker& worker) {
  const double lease_reads = plan_.work.lease_read_share;
  if (lease_reads > 0 && worker.random.chance(lease_reads)) return get(worker, Consistency::Lease);
  const uint64_t dice = worker.random.below(100);
  if (dice < plan_.work.kv_percent) {
    if (plan_.work.compact_percent != 0 && worker.random.below(100) < plan_.work.compact_percent) return compact(worker);
    if (plan_.work.transaction_percent != 0 && worker.random.below(100) < plan_.work.transaction_percent)
      return use_keys(worker);
    const uint64_t which = worker.random.below(5);
    return which < 2 ? put(worker) : which < 4 ? get(worker) : erase(worker);
  }
  if (dice < plan_.work.kv_percent + plan_.work.query_percent) return query(worker);
  const double changes = plan_.work.session_change_share;
  if (changes > 0 && worker.random.chance(changes / 4)) return end_another(worker);
  if (!worker.session || worker.session->phase() == SessionPhase::Lost) {
    worker.things.clear();
    return changes > 0 && worker.random.chance(0.5) && resume(worker) ? void() : open(worker);
  }
  if (worker.random.chance(0.02)) return close(worker);
  if (plan_.work.coordination_share > 0 && worker.random.chance(plan_.work.coordination_share)) return coordinate(worker);
  if (plan_.work.lock_family && worker.random.chance(0.2)) return acquire_several(worker);
  acquire(worker);
}

// Woken while an acquire waits: gives up.
void Workload::act_calling(Worker& worker) {
  if (!worker.waiting) return;
  if (worker.random.chance(0.7)) {
    client(worker).cancel(worker.waiting);
  } else {
    client(worker).abandon(worker.waiting);
  }
}

void Workload::act_holding(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const LeadingTime now = nodes_[worker.node]->clock_now().leading;
  const bool valid = hold->valid(now);
  if (valid) witness_.trusted(hold);
  if (worker.writes_left > 0 && (valid || worker.random.chance(0.2))) {
    --worker.writes_left;
    write_resource(worker);
    if (worker.random.chance(0.1)) return check(worker);
    return schedule(worker, plan_.work.hold_max / 4);
  }
  if (plan_.work.lock_family && act_further(worker)) return;
  const uint64_t dice = worker.random.below(100);
  if (dice < 6) return close(worker);
  if (dice < 20) {  // dropped by its owner: no one waits for the release
    client(worker).release_later(hold);
    worker.holds.pop_back();
    worker.state = worker.holds.empty() ? State::Idle : State::Holding;
    return schedule(worker, plan_.work.think_max);
  }
  release(worker);
}

// What else can be done with a hold besides releasing it.
bool Workload::act_further(Worker& worker) {
  const uint64_t dice = worker.random.below(100);
  if (dice < 25 && worker.holds.size() < 3) {
    dice < 6 ? acquire_several(worker) : acquire(worker);
  } else if (dice < 40) {
    convert(worker);
  } else if (dice < 45) {
    update_value(worker);
  } else {
    return false;
  }
  return true;
}

void Workload::act_winding_down(Worker& worker) {
  if (worker.state == State::Holding) return release(worker);
  if (worker.state == State::Idle && !worker.things.empty()) return give_back(worker);
  if (worker.state == State::Idle && worker.lease) return give_back_lease(worker);
  if (worker.state == State::Idle && worker.session && !worker.session->closed()) return close(worker);
}

bool Workload::idle() const {
  for (const Worker& worker : workers_) {
    if (worker.state != State::Idle || worker.lease || (worker.session && !worker.session->closed())) return false;
  }
  return true;
}

// ---- calls

std::string Workload::label(Worker& worker) { return fmt::format("w{}-{}", worker.number, ++worker.labels); }

CallDeadline Workload::call_deadline(Worker& worker) {
  if (worker.random.chance(0.7)) return std::nullopt;
  return nodes_[worker.node]->clock_now().lagging + draw(worker.random, milliseconds(1), seconds(3));
}

// Several threads of control may share a session; their tags tell them apart, or not.
bool Workload::borrow_session(Worker& worker) {
  if (!worker.random.chance(0.3)) return false;
  for (const Worker& other : workers_) {
    if (other.node != worker.node || !other.session || other.session->phase() == SessionPhase::Lost) continue;
    worker.session = other.session;
    return true;
  }
  return false;
}

void Workload::open(Worker& worker) {
  if (borrow_session(worker)) return schedule(worker, plan_.work.think_max);
  OpenOptions options;
  options.ttl = draw(worker.random, plan_.work.ttl_min, plan_.work.ttl_max);
  options.metadata = label(worker);
  options.deadline = call_deadline(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Open, "session", options.metadata);
  client(worker).open_session(std::move(options), then(worker, [this, &worker, call](absl::StatusOr<SessionRef>& answer) {
                                witness_.opened(call, answer);
                                if (!answer.ok()) return;
                                worker.session = *answer;
                                locks_.opened(worker.node, worker.session);
                                write_down(worker);
                              }));
}

void Workload::close(Worker& worker) {
  const auto call = witness_.begin(worker.node, Witness::Kind::Close, "session");
  const SessionRef session = std::exchange(worker.session, nullptr);
  if (Recorder* recorder = world_.recorder()) recorder->closes(call, session->id());
  worker.holds.clear();
  worker.things.clear();
  client(worker).close(
      session, then(worker, [this, call, id = session->id()](absl::Status& answer) { witness_.closed(call, id, answer); }),
      call_deadline(worker));
}

// ---- protected resources

void Workload::write_resource(Worker& worker) {
  const bool slow = worker.random.chance(plan_.work.session_change_share > 0 ? 0.25 : 0.05);
  const Duration delay = draw(worker.random, Duration::zero(), slow ? Duration(seconds(5)) : milliseconds(5));
  const HoldState& hold = *worker.holds.back();
  writes_.push_back({.lock = hold.name(),
                     .token = hold.token(),
                     .mode = hold.terms().mode,
                     .node = worker.node,
                     .epoch = nodes_[worker.node]->epoch(),
                     .session = hold.session()->id(),
                     .held = locks_.held_since(hold),
                     .unsent = worker.random.chance(0.5)});
  world_.schedule(world_.now() + delay, EventKind::Resource, worker.node, 0, writes_.size() - 1);
}

// docs/semantics.md S-55. A paused thread's pending write leaves when its process resumes, however long that takes.
void Workload::resource_event(const Event& event) {
  const ResourceWrite& write = writes_[event.item];
  const Node& writer = *nodes_[write.node];
  if (write.unsent && writer.epoch() != write.epoch) return;
  if (write.unsent && writer.frozen()) {
    return world_.schedule(world_.now() + milliseconds(20), EventKind::Resource, write.node, 0, event.item);
  }
  Gate& gate = gates_[write.lock];
  const bool alone = write.mode == LockMode::Exclusive;
  const bool accepted = (alone ? write.token >= gate.highest : write.token > gate.exclusive) || defects_.gate_open;
  if (accepted) gate.highest = std::max(gate.highest, write.token);
  if (accepted && alone) gate.exclusive = write.token;
  if (!accepted) ++refused_;
  if (!accepted && locks_.taken_over_since(write.session, write.held)) reach(Situation::PreviousHolderRefused);
  locks_.resource_admits(write.lock, write.token, write.mode, write.held, accepted);
}

}  // namespace coordkit::sim
