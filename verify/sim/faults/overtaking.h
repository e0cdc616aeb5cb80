// Changes of members that nobody else learns of. For a while a leader's appends reach nobody, and a change is the last of them.
// Then it is cut off. The others elect another leader, which is asked for a change at once, and the first one starts again. Its
// log then names members that committed ones have overtaken, often at a lower index.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "sim/faults/churn.h"
#include "sim/nodes/node.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Overtaking {
 public:
  Overtaking(World& world, const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes,
             const ConsensusObserver& consensus, Churn& churn, Random random)
      : world_(world), plan_(plan), nodes_(nodes), consensus_(consensus), churn_(churn), random_(random) {}

  // This leader's appends are held from now on; after `held` it is cut off, for `length`.
  void begin(uint32_t leader, Duration held, Duration length);
  void event(const Event& event);
  void turned(uint32_t node, const EngineEffects& effects);

 private:
  enum class Step : uint8_t { Fill, Ask, Restart };
  void later(uint32_t node, Duration delay, Step step);
  void fill_log(Node& node);
  void ask(uint32_t node);

  World& world_;
  const Plan& plan_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const ConsensusObserver& consensus_;
  Churn& churn_;
  Random random_;
  std::optional<uint32_t> leader_;  // that is cut off
};

}  // namespace coordkit::sim
