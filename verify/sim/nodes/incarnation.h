// One process of a node: the engine and the client that it started with, and their turns.
//
// Lifetime: code of an embedder that the client calls may use the process until it is destroyed, also once it has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "engine/loop/event_log.h"
#include "remote/gateway.h"
#include "sim/nodes/inbox.h"
#include "sim/nodes/node_parts.h"
#include "sim/world/node_clock.h"

namespace coordkit::sim {

class Incarnation {
 public:
  // `start`: the number it gave its engine.
  Incarnation(const NodeParts& parts, uint32_t node, std::unique_ptr<Engine> engine, ClientOptions options, uint64_t start,
              Now now);

  // Takes what waits, and gives client and engine their turn. Throws a Violation for what it finds wrong with the replica.
  void turn(Now now, Inbox& inbox);
  EngineEffects& effects() { return effects_; }  // of the last turn
  // The client learns of the effects, after they were carried out.
  void answer(Now now);
  // Another turn, at once. Throws a Violation if it has asked for too many in a row.
  bool wants_turn(Now now);
  TrueTime deadline(const NodeClock& clock, Now now, TrueTime at) const;  // of the next turn; max(): none
  // Sends that this write had held back, between turns.
  std::vector<Outbound> released(WriteNumber durable);
  // For the next turn.
  void hear(LinkMail mail) { mail_.push_back(std::move(mail)); }
  // A non-member connects, sends all this and disconnects.
  void visited(const Hello& claim, std::vector<Message> messages);

  void end() { ended_ = true; }
  bool ended() const { return ended_; }
  Engine& engine() { return *engine_; }
  Client& client() { return *client_; }
  ClusterId cluster() const { return cluster_; }
  uint64_t start() const { return start_; }

 private:
  void read_mail(Now now);
  void tell(const ReplicaEvent& event) const;
  void check() const;

  const NodeParts& parts_;
  const uint32_t node_;
  const uint64_t start_;
  const std::unique_ptr<Engine> engine_;
  const std::unique_ptr<Engine> proxy_;     // between client and engine if a defect wants it
  std::optional<remote::Gateway> gateway_;  // if there are processes without a replica
  std::vector<LinkMail> mail_;              // for it
  engine::EventLog events_;
  EngineEffects effects_;
  ClusterId cluster_;
  std::optional<uint64_t> rejected_due_;  // message count that must not have been accepted after the next turn
  uint64_t turns_in_a_row_ = 0;           // without time passing or entries applied
  bool ended_ = false;
  const std::unique_ptr<Client> client_;  // the first to be destroyed
};

}  // namespace coordkit::sim
