// Who uses the cluster: workers on every node that open sessions, contend for a few locks, write to the resources these
// protect, and put, get and erase a few keys - all through the public Client. A worker is one thread of control of the
// node's process: it stands still while the process is frozen and is gone when it crashes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/lock_observer.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/witness.h"
#include "sim/world.h"

namespace coordkit::sim {

class Workload {
 public:
  Workload(World& world, const Plan& plan, const Defects& defects, std::vector<std::unique_ptr<Node>>& nodes,
           LockObserver& locks, Witness& witness, Random random);

  void process_started(uint32_t node);
  void process_died(uint32_t node);
  void process_resumed(uint32_t node);

  void worker_event(const Event& event);
  void resource_event(const Event& event);

  // No new work: workers give back what they hold and end.
  void wind_down() { winding_down_ = true; }
  bool idle() const;
  uint64_t resource_writes() const { return writes_.size(); }
  uint64_t stale_writes_refused() const { return refused_; }

 private:
  enum class State : uint8_t { Idle, Calling, Holding };
  struct Worker {
    uint32_t node = 0;
    uint64_t number = 0;
    uint64_t step = 0;  // a scheduled step of an older number is void
    State state = State::Idle;
    bool stepping_late = false;  // its step came while the process was frozen
    Random random{0};
    SessionRef session;
    std::vector<HoldRef> holds;  // the newest is worked with and released first
    uint32_t writes_left = 0;
    CallId waiting;  // an acquire that may be cancelled
    uint64_t labels = 0;
  };
  struct ResourceWrite {
    std::string lock;
    Token token;
    LockMode mode = LockMode::Exclusive;
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
  void query(Worker& worker);
  void check(Worker& worker);
  void write_resource(Worker& worker);

  // Wraps a callback: it is ignored if the process died meanwhile, and the worker goes on afterwards.
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
  Witness& witness_;
  Random random_;
  std::vector<Worker> workers_;
  std::vector<ResourceWrite> writes_;
  std::map<std::string, Gate> gates_;  // of the resources
  uint64_t refused_ = 0;
  bool winding_down_ = false;
};

}  // namespace coordkit::sim
