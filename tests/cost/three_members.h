// Three replicas in one thread, in steps of their own time, each with counts of its costs: how often it allocates,
// writes its log, sends, and how many bytes go where. Messages are bytes, as between processes; a write is durable one step
// later.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/client.h"
#include "coordkit/clock.h"
#include "coordkit/engine.h"
#include "coordkit/storage/memory_stores.h"
#include "coordkit/store_events.h"

namespace coordkit::testing {

struct Cost {
  uint64_t allocations = 0;  // of engine, client and codec; the stores' and this rig's own are not counted
  uint64_t turns = 0;
  uint64_t log_writes = 0;  // each of them a sync
  uint64_t entries = 0;
  uint64_t entry_bytes = 0;  // of their commands
  uint64_t messages = 0;     // sent
  uint64_t message_bytes = 0;
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
  void greet(size_t from);
  void turn(size_t index);
  void send(size_t from, const Outbound& outbound);

  Now now_;
  std::array<std::unique_ptr<Member>, 3> members_;
};

}  // namespace coordkit::testing
