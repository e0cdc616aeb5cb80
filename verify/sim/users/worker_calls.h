// How workers make calls: through the client of their node, one at a time. The answer goes to the worker that asked, if its
// process still lives, and the worker continues some moments later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/sim/situations.h"
#include "sim/nodes/caller.h"
#include "sim/plan.h"
#include "sim/users/worker.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class WorkerCalls {
 public:
  WorkerCalls(World& world, const WorkPlan& work, const Callers& nodes, SituationCounts& situations)
      : world_(world), work_(work), nodes_(nodes), situations_(situations) {}

  Client& client(const Worker& worker) const { return nodes_[worker.node]->client(); }
  const Engine& engine(const Worker& worker) const { return *nodes_[worker.node]->engine(); }
  Now clock(const Worker& worker) const { return nodes_[worker.node]->clock_now(); }
  uint64_t epoch(uint32_t node) const { return nodes_[node]->epoch(); }
  Recorder* recorder() const { return world_.recorder(); }
  void reach(Situation situation) { ++situations_[static_cast<size_t>(situation)]; }

  // The worker's next step comes within this time.
  void schedule(Worker& worker, Duration longest);
  // Wraps a callback: it is ignored if the process died meanwhile, and the worker continues afterwards.
  template <typename F>
  auto then(Worker& worker, F done);

  // The needs of a call.
  CallDeadline deadline(Worker& worker) const;
  LockWait wait(Worker& worker) const;  // not forever: the awaited event may never come
  std::string label(Worker& worker) const;
  std::string lock_name(Worker& worker) const;
  // The generation of a session, as the worker's replica knows it; none if it knows no such session, or if there is no replica.
  std::optional<Generation> generation(const Worker& worker, SessionId session) const;

 private:
  World& world_;
  const WorkPlan& work_;
  const Callers& nodes_;
  SituationCounts& situations_;
};

template <typename F>
auto WorkerCalls::then(Worker& worker, F done) {
  worker.state = Worker::State::Calling;
  return [this, &worker, process = epoch(worker.node), done = std::move(done)](auto answer) mutable {
    if (epoch(worker.node) != process) return;
    worker.waiting = CallId();
    worker.state = Worker::State::Idle;
    done(answer);
    if (worker.state == Worker::State::Idle && !worker.holds.empty()) worker.state = Worker::State::Holding;
    schedule(worker, worker.state == Worker::State::Holding ? work_.hold_max / 4 : work_.think_max);
  };
}

}  // namespace coordkit::sim
