// The links between remotes and gateways, as the loop of a host drives them: at a replica the links of all its remotes
// (remotes/remote_listener.h), at a remote the one to its gateway (remotes/gateway_link.h). Both own the transport of their
// links, whose reports the loop brings to them (Arrivals).
//
// Threads: the engine's.
#pragma once

#include <cstdint>
#include <string>

#include "coordkit/engine/engine.h"
#include "coordkit/ports/clock.h"

namespace coordkit {

// A report of the transport of the links.
struct LinkNews {
  enum class Kind : uint8_t { Up, Down, Frame, Refused, Unreachable };
  Kind kind = Kind::Frame;
  ReplicaId peer;
  std::string text = {};  // the frame, or a sentence for the operator
};

class LinkTurns {
 public:
  virtual ~LinkTurns() = default;
  virtual void take(LinkNews news) = 0;  // for the next before_turn()
  virtual void before_turn(Now now) = 0;
  // Sends what has become due.
  virtual void after_turn(Now now, const EngineEffects& effects) = 0;
  virtual Duration next_turn(Now now) const = 0;
};

}  // namespace coordkit
