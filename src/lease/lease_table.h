// The lease table: sessions that are alive, in id order. It keeps everything that must outlive a leader. That is the granted
// TTL, the process to which a session is bound, and the generation that guards its expiry. Because of the process, one
// renewal covers all of its sessions. The table has no deadlines: those belong to the leader's clock, outside the replicated
// state.
//
// A lease of keys lives by the same rules, in a table of its own. It is a session that holds nothing but keys. It has a name
// besides its id, and the keys are attached to that name (docs/decisions/0012).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/types.h"
#include "lease/secret.h"

namespace coordkit::lease {

inline constexpr Duration kTtlFloor = std::chrono::milliseconds(50);  // docs/semantics.md S-29: a shorter TTL is raised to it

// S-29: the TTL that is granted for the requested one. It never shrinks.
constexpr Duration granted_ttl(Duration asked) { return asked < kTtlFloor ? kTtlFloor : asked; }

// Whether a request belongs to a session: the process to which it is bound sent the request after the binding (S-45).
inline bool binds(const TimerGroup& group, Sequence resumed_by, const RequestId& request) {
  const Origin& origin = request.origin;
  return group.node == origin.replica && group.boot == origin.boot && group.incarnation == origin.store.value() &&
         request.sequence > resumed_by;
}

struct Session {
  TimerGroup group;       // node, boot, incarnation and TTL class: group.ttl is the granted TTL
  Generation generation;  // 0 at open; +1 by every resume (docs/time.md LT-4): its timer is armed again
  std::string metadata;
  SecretHash secret;
  bool ending = false;     // S-57: renewals no longer cover it; it ends a full TTL after this was set
  bool contested = false;  // as far as the log knows, a previous process may still be alive; only a voucher unsets it
  Sequence resumed_by;     // the request that bound it; earlier ones of that process belong to an earlier binding
  LeaseId name = {};       // the name of a lease of keys, never zero; zero for a session
  friend bool operator==(const Session&, const Session&) = default;

  bool owns(const RequestId& request) const { return binds(group, resumed_by, request); }
};

// How a session relates to a request.
enum class Standing : uint8_t { Unknown, OfAnother, Ending, Alive };

enum class PreviousProcess : uint8_t { MayLive, IsGone };  // the process that had the session before a resume

class Table {
 public:
  using Visitor = absl::FunctionRef<void(SessionId, const Session&)>;
  using WhileVisitor = absl::FunctionRef<bool(SessionId, const Session&)>;  // false: stop

  // The id must be new and above all earlier ones (S-45).
  void open(SessionId id, Session session);
  bool close(SessionId id);  // false: no such session
  // Binds a live session to another process, under a new generation. IsGone: no process that ever had it can still trust it.
  void resume(SessionId id, const TimerGroup& group, Sequence by, PreviousProcess previous);
  // A renewal through the log (LT-4): earlier proposals to end the session are void.
  void renew(SessionId id);
  void mark_ending(SessionId id);  // for a live session
  bool contains(SessionId id) const { return sessions_.contains(id); }
  std::optional<Session> find(SessionId id) const;
  Standing standing(SessionId id, const RequestId& request) const;  // asked for every request: nothing is copied
  size_t size() const { return sessions_.size(); }
  size_t groups() const { return groups_.size(); }
  void each_after(SessionId after, WhileVisitor visit) const;  // ascending

  std::optional<SessionId> named(LeaseId name) const;
  void each_named_after(LeaseId after, WhileVisitor visit) const;  // ascending names

  // Checkpoint: the changes since the previous call; rows to erase, then rows to put, each ascending.
  void collect(Visitor put, absl::FunctionRef<void(SessionId)> erase);
  void forget_stored();                                 // the next collect() puts every row
  absl::Status restore(SessionId id, Session session);  // ascending; kDataLoss: impossible

  uint64_t digest() const { return digest_; }  // sum over the sessions
  uint64_t recomputed_digest() const;

 private:
  using Groups = std::map<TimerGroup, uint64_t>;  // how many sessions each has; addresses are stable

  // A session takes 48 bytes with its id: there may be a million. A process has one group for each TTL, so the groups are
  // shared. Most sessions have no metadata and are never resumed.
  struct Extra {
    std::string metadata;
    Sequence resumed_by;
    LeaseId name;
  };
  struct Row {
    Groups::value_type* group = nullptr;
    std::unique_ptr<Extra> extra;  // null: it has no extra fields
    SecretHash secret;
    uint64_t generation : 60 = 0;
    uint64_t ending : 1 = 0;
    uint64_t contested : 1 = 0;
    uint64_t stored : 1 = 0;  // its row is in the checkpoint
    uint64_t dirty : 1 = 0;   // listed in changed_
  };
  static Session session_of(const Row& row);
  Row row_of(Session session);
  void leave_group(Row& row);
  template <typename Change>
  void change(SessionId id, Change apply);

  absl::btree_map<SessionId, Row> sessions_;
  absl::btree_map<LeaseId, SessionId> names_;
  Groups groups_;
  std::vector<SessionId> changed_;  // opened or changed since the last collect(); may name sessions that are gone
  std::vector<SessionId> erased_;   // stored sessions that are gone since then
  uint64_t digest_ = 0;
};

}  // namespace coordkit::lease
