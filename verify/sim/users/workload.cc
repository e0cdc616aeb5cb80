#include "sim/users/workload.h"

#include <utility>

#include "sim/record/recorder.h"

namespace coordkit::sim {
namespace {

std::vector<Worker> make_workers(const Plan& plan, Random random) {
  std::vector<Worker> workers;
  for (uint32_t node = 0; node < plan.callers(); ++node) {
    for (uint32_t i = 0; i < plan.work.workers_per_node; ++i) {
      Worker& worker = workers.emplace_back();
      worker.node = node;
      worker.number = workers.size() - 1;
      worker.random = random.fork();
    }
  }
  return workers;
}

}  // namespace

Workload::Workload(World& world, const Plan& plan, const Defects& defects, const Callers& nodes, LockObserver& locks,
                   LeaseObserver& leases, Witness& witness, SituationCounts& situations, Random random)
    : work_(plan.work),
      nodes_(nodes),
      locks_(locks),
      leases_(leases),
      witness_(witness),
      workers_(make_workers(plan, random)),
      calls_(world, work_, nodes, situations),
      resources_(world, work_, defects, nodes, locks, calls_),
      lock_work_(calls_, work_, locks, witness),
      session_work_(calls_, work_, workers_, resources_, locks, witness),
      lease_work_(calls_, work_, leases, witness),
      key_work_(calls_, work_, workers_.size(), lease_work_, resources_, witness),
      coordination_work_(calls_, work_, witness) {}

void Workload::process_started(uint32_t node) {
  for (Worker& worker : workers_) {
    if (worker.node == node) calls_.schedule(worker, work_.think_max);
  }
}

void Workload::process_died(uint32_t node) {
  locks_.process_died(node);
  leases_.process_died(node);
  witness_.calls().process_died(node);
  for (Worker& worker : workers_) {
    if (worker.node != node) continue;
    worker.session = nullptr;
    worker.lease = nullptr;
    worker.holds.clear();
    worker.things.clear();
    worker.state = Worker::State::Idle;
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
  const Caller& node = *nodes_[worker.node];
  if (!node.up() || event.epoch != node.epoch() || event.item >> 16 != worker.step) return;
  if (node.frozen()) {
    worker.stepping_late = true;
    return;
  }
  act(worker);
}

void Workload::act(Worker& worker) {
  if (Recorder* recorder = calls_.recorder()) recorder->operations().acting(worker.number);
  if (winding_down_) {
    act_winding_down(worker);
  } else if (worker.state == Worker::State::Idle) {
    act_idle(worker);
  } else if (worker.state == Worker::State::Holding) {
    act_holding(worker);
  } else {
    act_calling(worker);
  }
  nodes_[worker.node]->wake();
}

void Workload::act_idle(Worker& worker) {
  const double lease_reads = work_.lease_read_share;
  if (lease_reads > 0 && worker.random.chance(lease_reads)) return key_work_.get(worker, Consistency::Lease);
  const uint64_t dice = worker.random.below(100);
  if (dice < work_.kv_percent) return key_work_.act(worker);
  if (dice < work_.kv_percent + work_.query_percent) return lock_work_.query(worker);
  const double changes = work_.session_change_share;
  if (changes > 0 && worker.random.chance(changes / 4)) return session_work_.end_another(worker);
  if (!worker.session || worker.session->phase() == SessionPhase::Lost) {
    worker.things.clear();
    return changes > 0 && worker.random.chance(0.5) && session_work_.resume(worker) ? void() : session_work_.open(worker);
  }
  if (worker.random.chance(0.02)) return session_work_.close(worker);
  if (work_.coordination_share > 0 && worker.random.chance(work_.coordination_share)) return coordination_work_.act(worker);
  if (work_.lock_family && worker.random.chance(0.2)) return lock_work_.acquire_several(worker);
  lock_work_.acquire(worker);
}

// Woken while an acquire waits: gives up.
void Workload::act_calling(Worker& worker) {
  if (!worker.waiting) return;
  if (worker.random.chance(0.7)) {
    calls_.client(worker).cancel(worker.waiting);
  } else {
    calls_.client(worker).abandon(worker.waiting);
  }
}

void Workload::act_holding(Worker& worker) {
  const HoldRef hold = worker.holds.back();
  const LeadingTime now = calls_.clock(worker).leading;
  const bool valid = hold->valid(now);
  if (valid) witness_.locks().trusted(hold);
  if (worker.writes_left > 0 && (valid || worker.random.chance(0.2))) {
    --worker.writes_left;
    resources_.write(worker);
    if (worker.random.chance(0.1)) return lock_work_.check(worker);
    return calls_.schedule(worker, work_.hold_max / 4);
  }
  if (work_.lock_family && lock_work_.act_further(worker)) return;
  const uint64_t dice = worker.random.below(100);
  if (dice < 6) return session_work_.close(worker);
  if (dice < 20) {  // dropped by its owner: no one waits for the release
    calls_.client(worker).release_later(hold);
    worker.holds.pop_back();
    worker.state = worker.holds.empty() ? Worker::State::Idle : Worker::State::Holding;
    return calls_.schedule(worker, work_.think_max);
  }
  lock_work_.release(worker);
}

void Workload::act_winding_down(Worker& worker) {
  if (worker.state == Worker::State::Holding) return lock_work_.release(worker);
  if (worker.state == Worker::State::Idle && !worker.things.empty()) return coordination_work_.give_back(worker);
  if (worker.state == Worker::State::Idle && worker.lease) return lease_work_.give_back(worker);
  if (worker.state == Worker::State::Idle && worker.session && !worker.session->closed()) return session_work_.close(worker);
}

bool Workload::idle() const {
  for (const Worker& worker : workers_) {
    if (worker.state != Worker::State::Idle || worker.lease || (worker.session && !worker.session->closed())) return false;
  }
  return true;
}

}  // namespace coordkit::sim
