// The lease table: sessions that are alive, in id order. It keeps what must outlive a leader: the granted TTL, the process
// a session is bound to (so that one renewal covers all of that process), and the generation that guards its expiry. No
// deadlines: those belong to the leader's clock, outside the replicated state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/state_machine.h"
#include "coordkit/types.h"

namespace coordkit::lease {

inline constexpr Duration kTtlFloor = std::chrono::milliseconds(50);  // docs/semantics.md S-29: a shorter TTL is raised to it

// S-29: the TTL that is granted for the one asked for. It never shrinks.
constexpr Duration granted_ttl(Duration asked) { return asked < kTtlFloor ? kTtlFloor : asked; }

struct Session {
  TimerGroup group;       // node, boot, incarnation and TTL class: group.ttl is the granted TTL
  Generation generation;  // 0 at open; +1 by every renewal that goes through the log (docs/time.md LT-4)
  std::string metadata;
  friend bool operator==(const Session&, const Session&) = default;
};

class Table {
 public:
  using Visitor = absl::FunctionRef<void(SessionId, const Session&)>;
  using WhileVisitor = absl::FunctionRef<bool(SessionId, const Session&)>;  // false: enough

  // The id is new and above all before it (S-45).
  const Session& open(SessionId id, Session session);
  bool close(SessionId id);  // false: no such session
  const Session* find(SessionId id) const;
  size_t size() const { return sessions_.size(); }
  void each_after(SessionId after, WhileVisitor visit) const;  // ascending

  // Checkpoint: what changed since the call before, ascending.
  void collect(Visitor put, absl::FunctionRef<void(SessionId)> erase);
  absl::Status restore(SessionId id, Session session);  // ascending; kDataLoss: impossible

  uint64_t digest() const { return digest_; }  // sum over the sessions
  uint64_t recomputed_digest() const;

 private:
  struct Row {
    Session session;
    bool stored = false;  // its row is in the checkpoint
  };
  absl::btree_map<SessionId, Row> sessions_;
  std::vector<SessionId> opened_;  // since the last collect(); may name sessions that are gone
  std::vector<SessionId> erased_;  // stored ones that are gone since then
  uint64_t digest_ = 0;
};

}  // namespace coordkit::lease
