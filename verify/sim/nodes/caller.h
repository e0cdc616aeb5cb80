// A process that runs a client: of a replica, or one without. Those who use clients see no difference.
#pragma once

#include <cstdint>
#include <vector>

#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "sim/world/node_clock.h"

namespace coordkit::sim {

class Caller {
 public:
  virtual ~Caller() = default;
  virtual bool up() const = 0;
  virtual bool frozen() const = 0;
  virtual uint32_t epoch() const = 0;  // of the process; rises at every start and crash
  virtual NodeClock& clock() = 0;
  virtual Now clock_now() const = 0;
  virtual Origin origin() const = 0;
  // While it is up:
  virtual const Engine* engine() const = 0;
  virtual Client& client() = 0;
  // Requests a turn: a call was made on the client.
  virtual void wake() = 0;
};

using Callers = std::vector<Caller*>;  // by the number of the node: the replicas, then those without a replica

// The ids of processes without a replica. Each process has another one, which tells its place among the callers.
constexpr ReplicaId remote_id(uint32_t place, uint32_t epoch) {
  return ReplicaId(kRemoteBit | uint64_t{epoch} << 16 | (place + 1));
}
// The id of the caller with this id: that of a member, or the one that a member at its place would have.
constexpr ReplicaId place_id(ReplicaId id) { return is_remote(id) ? ReplicaId(id.value() & 0xffff) : id; }

}  // namespace coordkit::sim
