// The users of a cluster with two histories: workers on every place put and read a few keys, and a watch of each place is given
// every change. All that they are told goes to the judge.
#pragma once

#include <memory>
#include <vector>

#include "base/random.h"
#include "coordkit/engine/client.h"
#include "sim/histories/history_judge.h"
#include "sim/nodes/node.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class HistoryUsers {
 public:
  HistoryUsers(World& world, const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, Evidence& evidence, Random random);
  HistoryUsers(const HistoryUsers&) = delete;  // callbacks refer to it
  HistoryUsers& operator=(const HistoryUsers&) = delete;

  void process_started(uint32_t place);
  void forgets(uint32_t place);    // what it was told so far
  void event(const Event& event);  // a worker's step

 private:
  struct Worker {
    uint32_t place = 0;
    uint64_t number = 0;
    uint64_t step = 0;  // an event of an older one is void
    uint64_t values = 0;
    Random random{0};
  };
  void schedule(Worker& worker);
  void put(Worker& worker, std::string key);
  void get(Worker& worker, std::string key);
  void watch(uint32_t place);
  void given(uint32_t place, const WatchBatch& batch);
  size_t begin(const Worker& worker, std::string key);
  LaggingTime draw_deadline(Worker& worker) const;
  template <typename F>
  auto then(Worker& worker, size_t call, F done);

  World& world_;
  const Plan& plan_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  Evidence& evidence_;
  std::vector<Worker> workers_;  // never grows
  std::vector<bool> watched_;    // for each place
};

}  // namespace coordkit::sim
