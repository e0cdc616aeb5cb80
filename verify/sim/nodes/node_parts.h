// Given to a node: the world, the network and the options of its run, and its observers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/operate/replica_event.h"
#include "coordkit/sim/sim_options.h"
#include "sim/faults/member_lists.h"
#include "sim/plan.h"
#include "sim/world/network.h"
#include "sim/world/world.h"

namespace coordkit::sim {

// A report of the network to a gateway about the link of a remote.
struct LinkMail {
  enum class Kind : uint8_t { Up, Down, Frame };
  ReplicaId remote;
  Kind kind = Kind::Frame;
  std::string frame;
};

// The observer of a node. Called in order of events; throws Violation.
class NodeWatcher {
 public:
  virtual ~NodeWatcher() = default;
  virtual void started(uint32_t node) = 0;
  virtual void stopped(uint32_t node) = 0;                                      // crashed
  virtual void halted(uint32_t node) = 0;                                       // its disk failed and its process has ended
  virtual void resumed(uint32_t node) = 0;                                      // it was frozen
  virtual void pulled_out(uint32_t node) = 0;                                   // it must not continue; its process has ended
  virtual void reached(Situation situation) = 0;                                // by one of its stores
  virtual void checkpointing(uint32_t node, const CheckpointBatch& batch) = 0;  // before the store has it
  virtual void handling(uint32_t node, const EngineInput& input) = 0;           // in the turn that begins
  virtual bool may_go_on(uint32_t node) = 0;                       // after the engine's part; false: its disk is replaced
  virtual void writing(uint32_t node, const LogWrite& write) = 0;  // before the store has it
  virtual void synced(uint32_t node) = 0;
  virtual void turned(uint32_t node, EngineEffects& effects) = 0;  // after the engine's part, writes submitted
  virtual void sending(uint32_t node, ReplicaId to, const Message& message) = 0;
  virtual void answered(uint32_t node) = 0;                                          // after the client's part
  virtual void told(uint32_t, const ReplicaEvent&) {}                                // its operator
  virtual void tells_remotes(uint32_t, std::vector<std::pair<ReplicaId, Frame>>) {}  // as their gateway
  virtual bool beyond_promise() const { return false; }                              // replicas may have to halt and to differ
};

struct NodeParts {
  World& world;
  Network& network;
  NodeWatcher& watcher;
  const Plan& plan;
  const Defects& defects;
  const SimOptions& options;
  MemberLists& lists;
};

}  // namespace coordkit::sim
