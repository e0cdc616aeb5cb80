// Three replicas in one thread and in steps of their own time, each with the counts of what it costs: how often it allocates,
// wakes up, syncs, sends, and how many bytes go where. Messages are bytes, as between processes. A write is durable a step
// later, and messages that waited for it leave then, as a replica sends them. A replica takes a turn only if it has something
// to do, as a host's thread would.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/engine/client.h"
#include "coordkit/engine/engine.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/store_events.h"
#include "coordkit/storage/memory_stores.h"

namespace coordkit::testkit {

struct Cost {
  uint64_t allocations = 0;  // of engine, client and codec; the stores' and this rig's own are not counted
  uint64_t turns = 0;        // each of them a wake-up
  uint64_t syncs = 0;        // one for each write of the log
  uint64_t log_bytes = 0;    // as they lie in a segment
  uint64_t entries = 0;
  uint64_t entry_bytes = 0;  // of their commands
  uint64_t sends = 0;        // to one peer by one turn; a transport may give this to the network at once
  uint64_t messages = 0;     // each in a frame of its own
  uint64_t frame_bytes = 0;
};

class ThreeMembers {
 public:
  ThreeMembers();
  ~ThreeMembers();

  void step();  // every replica's turn, then time advances
  void until(const std::function<bool()>& condition);
  size_t leader() const;  // 0, 1 or 2, once there is one
  Client& client(size_t member);
  const Cost& cost(size_t member) const;
  void forget_costs();

 private:
  struct Member;
  bool has_work(const Member& member) const;
  void greet(size_t from);
  void turn(size_t index);
  void send_early(size_t index);
  void write(Member& member, LogWrite write);
  void send(size_t from, const std::vector<Outbound>& outbounds);
  void send(size_t from, const Outbound& outbound);

  Now now_;
  std::array<std::unique_ptr<Member>, 3> members_;
};

}  // namespace coordkit::testkit
