// The programs of an embedder, one in each process: started with it, woken by its timers, ended with it (sim/program.h).
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/nodes/node.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Programs {
 public:
  Programs(World& world, const SimOptions& options, std::vector<std::unique_ptr<Node>>& nodes, Random random);
  ~Programs();

  void process_started(uint32_t node);
  void process_died(uint32_t node);
  void process_resumed(uint32_t node);
  void event(const Event& event);
  void answered(uint32_t node, const EngineEffects& effects);
  void retire();                         // the end of the run: no more callbacks
  bool ended() const { return ended_; }  // one of them has finished

  void calm();
  bool done() const;

 private:
  class Host;
  World& world_;
  const SimOptions& options_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  Random random_;
  std::map<uint32_t, std::unique_ptr<Host>> hosts_;  // of running processes
  uint64_t last_ticket_ = uint64_t{1} << 61;         // far from the client's, and from those of changes that are drawn
  bool calm_ = false;
  bool ended_ = false;
};

}  // namespace coordkit::sim
