// The users of the cluster: workers on every node that open sessions, contend for a few locks, write to the resources these
// protect, and put, get and erase a few keys - all through the public Client. A worker is one thread of control of the
// node's process: it stands still while the process is frozen and ends when it crashes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordkit/sim/situations.h"
#include "sim/lease_observer.h"
#include "sim/lock_observer.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/witness.h"
#include "sim/world.h"

namespace coordkit::sim {

class Workload {
 public:
  Workload(World& world, const Plan& plan, const Defects& defects, std::vector<std::unique_ptr<Node>>& nodes,
           LockObserver& locks, LeaseObserver& leases, Witness& witness, SituationCounts& situations, Random random);

  void process_started(uint32_t node);
  void process_died(uint32_t node);
  void process_resumed(uint32_t node);

  void worker_event(const Event& event);
  void resource_event(const Event& event);

  // No new work: workers release what they hold and end.
  void wind_down() { winding_down_ = true; }
  bool idle() const;
  uint64_t resource_writes() const { return writes_.size(); }
  uint64_t stale_writes_refused() const { return refused_; }

 private:
  enum class State : uint8_t { Idle, Calling, Holding };
  // Permits, a claimed item or a place inside a double barrier.
  struct Thing {
    coordination::Kind kind;
    HoldRef hold;
  };
  struct Worker {
    uint32_t node = 0;
    uint64_t number = 0;
    uint64_t step = 0;  // a scheduled step of an older number is void
    State state = State::Idle;
    bool stepping_late = false;  // its step came due while the process was frozen
    Random random{0};
    SessionRef session;
    std::vector<HoldRef> holds;  // the newest is worked with and released first
    uint32_t writes_left = 0;
    std::vector<Thing> things;  // of the session as well
    KeyLeaseRef lease;          // that it keeps alive
    CallId waiting;             // an acquire that may be cancelled
    uint64_t labels = 0;
  };
  struct ResourceWrite {
    std::string lock;
    Token token;
    LockMode mode = LockMode::Exclusive;
    uint32_t node = 0;   // of the process that writes
    uint64_t epoch = 0;  // of the process that writes
    SessionId session;
    Index held;           // the entry by which it had the lock
    bool unsent = false;  // still with a thread that asked valid(), which pauses and dies with its process
  };
  // What a program saved so that the session can be taken over; and every process that ever asked for it.
  struct Paper {
    SessionId session;
    std::string secret;
    std::vector<std::pair<uint32_t, uint64_t>> processes;  // node, epoch
  };
  struct Gate {
    Token highest;
    Token exclusive;
  };

  void schedule(Worker& worker, Duration longest);
  void act(Worker& worker);
  void act_idle(Worker& worker);
  void act_calling(Worker& worker);
  void act_holding(Worker& worker);
  bool act_further(Worker& worker);
  void act_winding_down(Worker& worker);

  bool borrow_session(Worker& worker);
  void open(Worker& worker);
  void close(Worker& worker);
  void acquire(Worker& worker);
  void acquire_several(Worker& worker);
  void convert(Worker& worker);
  void update_value(Worker& worker);
  bool acquire_here(Worker& worker, const std::string& name, const AcquireOptions& options, uint64_t call);
  bool release_here(Worker& worker, const HoldRef& hold, uint64_t call);
  void release(Worker& worker);
  void put(Worker& worker);
  void get(Worker& worker);
  void get(Worker& worker, Consistency consistency);
  void erase(Worker& worker);
  void compact(Worker& worker);
  // ---- keys with all their options, and transactions (workload_keys.cc)
  void use_keys(Worker& worker);
  void put_entry(Worker& worker);
  void erase_entries(Worker& worker);
  void range(Worker& worker);
  void transact(Worker& worker);
  std::string shared_key(Worker& worker);
  LeaseId draw_lease(Worker& worker);
  Compare draw_lock_compare(Worker& worker);
  WriteOptions draw_options(Worker& worker);
  RangeOperation draw_range(Worker& worker, bool past);
  Compare draw_compare(Worker& worker);
  Operation draw_operation(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys);
  Transaction draw_transaction(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys);
  // ---- leases of keys (workload_leases.cc)
  void use_leases(Worker& worker);
  void keep_lease(Worker& worker);
  void give_back_lease(Worker& worker);
  void grant_lease(Worker& worker);
  void renew_lease(Worker& worker, LeaseId id);
  void revoke_lease(Worker& worker, LeaseId id);
  void look_at_lease(Worker& worker, LeaseId id);
  void list_leases(Worker& worker);
  LeaseId known_lease(Worker& worker);
  void know_lease(LeaseId id);
  void query(Worker& worker);
  void check(Worker& worker);
  void write_resource(Worker& worker);

  // ---- sessions that change hands, and are ended by others (workload_sessions.cc)
  void write_down(Worker& worker);
  bool resume(Worker& worker);
  void end_another(Worker& worker);
  bool runs(const std::pair<uint32_t, uint64_t>& process) const { return nodes_[process.first]->epoch() == process.second; }

  // ---- semaphores, barriers and the like (workload_coordination.cc)
  void coordinate(Worker& worker);
  void use_semaphore(Worker& worker);
  void use_latch(Worker& worker);
  void use_barrier(Worker& worker);
  void use_double_barrier(Worker& worker);
  void use_queue(Worker& worker);
  void use_counter(Worker& worker);
  void use_group(Worker& worker);
  void look_at_object(Worker& worker);
  void give_back(Worker& worker);
  LockWait draw_wait(Worker& worker);
  void reach(Situation situation) { ++situations_[static_cast<size_t>(situation)]; }
  // The answer of a command: what the log must say if it succeeded, and what the worker does then.
  DoneCallback done_as(Worker& worker, uint64_t call, Situation situation);
  template <typename T, typename Matches>
  Callback<T> told(Worker& worker, uint64_t call, Matches matches, Situation situation);
  Callback<HoldRef> got_hold(Worker& worker, uint64_t call, coordination::Kind kind, Situation situation);
  uint64_t command(Worker& worker, Witness::Kind kind, const std::string& name, machine::CoordinationCommand body);

  // Wraps a callback: it is ignored if the process died meanwhile, and the worker continues afterwards.
  template <typename F>
  auto then(Worker& worker, F done);
  template <typename Done>
  auto granted(Worker& worker, Done done);
  AcquireOptions acquire_options(Worker& worker, const std::string& label);
  void limit_wait(Worker& worker, AcquireOptions& options);
  CallDeadline call_deadline(Worker& worker);
  std::string label(Worker& worker);
  std::string lock_name(Worker& worker);
  std::string key(Worker& worker);
  Client& client(const Worker& worker) { return nodes_[worker.node]->client(); }

  World& world_;
  const Plan& plan_;
  const Defects& defects_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  LockObserver& locks_;
  LeaseObserver& leases_;
  Witness& witness_;
  SituationCounts& situations_;
  Random random_;
  std::vector<Paper> papers_;
  std::vector<Worker> workers_;
  std::vector<ResourceWrite> writes_;
  std::map<std::string, Gate> gates_;  // of the resources
  std::vector<LeaseId> lease_ids_;     // the newest known to any worker
  uint64_t chosen_leases_ = 0;
  uint64_t refused_ = 0;
  Revision newest_;  // known to any worker
  bool winding_down_ = false;
};

template <typename F>
auto Workload::then(Worker& worker, F done) {
  worker.state = State::Calling;
  return [this, &worker, epoch = nodes_[worker.node]->epoch(), done = std::move(done)](auto answer) mutable {
    if (nodes_[worker.node]->epoch() != epoch) return;
    worker.waiting = CallId();
    worker.state = State::Idle;
    done(answer);
    if (worker.state == State::Idle && !worker.holds.empty()) worker.state = State::Holding;
    schedule(worker, worker.state == State::Holding ? plan_.work.hold_max / 4 : plan_.work.think_max);
  };
}

}  // namespace coordkit::sim
