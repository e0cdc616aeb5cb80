// States for peers and from them, beside the turns of a node: its engine's orders are carried out on the state store, and each
// answer comes after a latency of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "coordkit/engine/engine.h"
#include "coordkit/engine/state_transfer.h"
#include "sim/nodes/inbox.h"
#include "sim/nodes/node_parts.h"
#include "sim/nodes/turn_schedule.h"
#include "sim/world/state_disk.h"

namespace coordkit::sim {

class StateTransfers {
 public:
  StateTransfers(const NodeParts& parts, uint32_t node, Random& random, SimStateStore& state, const TurnSchedule& schedule,
                 Inbox& inbox)
      : parts_(parts), node_(node), random_(random), state_(state), schedule_(schedule), inbox_(inbox) {}

  void begin() { views_.emplace(state_); }  // a process
  void end();
  void perform(EngineEffects& effects);
  void event(const Event& event);

 private:
  void answer_later(Duration after, std::optional<EngineInput> answer);

  const NodeParts& parts_;
  const uint32_t node_;
  Random& random_;  // shared with the other parts of the node
  SimStateStore& state_;
  const TurnSchedule& schedule_;
  Inbox& inbox_;
  std::optional<StateViews> views_;
  std::map<uint64_t, std::optional<EngineInput>> answers_;  // pending; none: machines to be built
  uint64_t last_answer_ = 0;
};

}  // namespace coordkit::sim
