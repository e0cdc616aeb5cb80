// Where the effects of a turn go: to the stores of the node, to the transfers of states and to the network.
#pragma once

#include <cstdint>

#include "coordkit/engine/engine.h"
#include "sim/nodes/inbox.h"
#include "sim/nodes/node_parts.h"
#include "sim/nodes/node_stores.h"
#include "sim/nodes/state_transfers.h"
#include "sim/nodes/turn_schedule.h"

namespace coordkit::sim {

class Outbox {
 public:
  Outbox(const NodeParts& parts, uint32_t node, Random& random, NodeStores& stores, const TurnSchedule& schedule, Inbox& inbox)
      : parts_(parts),
        node_(node),
        random_(random),
        stores_(stores),
        inbox_(inbox),
        transfers_(parts, node, random, stores.state(), schedule, inbox) {}

  void carry_out(EngineEffects& effects);
  // As far as a process gets that dies meanwhile.
  void carry_out_part(EngineEffects& effects);
  void send(Outbound& outbound);
  StateTransfers& transfers() { return transfers_; }

 private:
  void submit(LogWrite& write);
  uint32_t place_of(uint32_t member) const;

  const NodeParts& parts_;
  const uint32_t node_;
  Random& random_;  // shared with the other parts of the node
  NodeStores& stores_;
  Inbox& inbox_;
  StateTransfers transfers_;
};

}  // namespace coordkit::sim
