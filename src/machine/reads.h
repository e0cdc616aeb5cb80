// The readable part of coordkit's machine: its applied state on this replica, as plain values, without a log entry and
// without encoding. The engine decides when a read is linearizable (Ask without a question). Reads are called on the thread
// that runs the engine's turns, between two turns. A machine that a peer's state replaced is gone after that turn: get a new
// Reads each time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/keys/key_operations.h"
#include "coordkit/records.h"
#include "coordkit/types.h"
#include "machine/keys/changes.h"
#include "machine/keys/key_space.h"
#include "machine/locks/lock_commands.h"
#include "machine/objects/object_views.h"
#include "machine/result.h"

namespace coordkit::machine {

inline constexpr uint64_t kRowsMax = 10'000;  // of one answer; `more` says that rows are left

using coordkit::HeldLockInfo;
using coordkit::HolderInfo;
using coordkit::KeyValue;
using coordkit::WaiterInfo;

// A hold, with what only the client of its session needs to know.
struct HeldLock : HeldLockInfo {
  uint64_t releases = 0;  // releases that counted it down so far
  Token last;             // S-58: of a delegation: the last token of its block; `token` names the hold
  bool asked = false;     // of a delegation: another session wants the lock
  friend bool operator==(const HeldLock&, const HeldLock&) = default;
};
struct Holders {
  std::vector<HeldLock> holders;  // without the name, which the caller has
  uint64_t waiters = 0;
  bool delayed = false;  // a lock-delay runs (S-40)
  bool more = false;     // holders than one answer has
  friend bool operator==(const Holders&, const Holders&) = default;
};

struct LockQueue {
  std::vector<WaiterInfo> waiters;
  bool more = false;
  friend bool operator==(const LockQueue&, const LockQueue&) = default;
};

// A session, with what only its client needs to know.
struct SessionInfo : coordkit::SessionInfo {
  uint64_t incarnation = 0;
  Generation generation;
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};
struct Sessions {
  std::vector<SessionInfo> sessions;
  bool more = false;
  friend bool operator==(const Sessions&, const Sessions&) = default;
};

struct HeldLocks {
  std::vector<HeldLock> locks;  // in grant order
  bool more = false;
  friend bool operator==(const HeldLocks&, const HeldLocks&) = default;
};

struct Entry {
  std::optional<KeyValue> entry;
  Revision revision;  // of the store now
  friend bool operator==(const Entry&, const Entry&) = default;
};
// The result of a read-only operation on keys; with any code but Ok there is no reply.
template <typename Reply>
struct KeysRead {
  ResultCode code = ResultCode::Ok;
  Revision revision;   // of the store now
  Revision compacted;  // reads below it are refused
  Reply reply;

  Result refusal() const { return {.code = code, .revision = revision, .compacted = compacted}; }
  friend bool operator==(const KeysRead&, const KeysRead&) = default;
};

// The time that a lease still has is not part of the replicated state. The leader knows it from the timer, which has this
// number.
struct LeaseRow {
  LeaseId id;
  SessionId number;
  Duration ttl{};
  ReplicaId node;  // the process that renews it; zero: none
  friend bool operator==(const LeaseRow&, const LeaseRow&) = default;
};
struct Leases {
  std::vector<LeaseRow> leases;
  std::vector<std::string> keys;  // of one lease, if requested
  bool more = false;
  Revision revision;  // of the store now
  friend bool operator==(const Leases&, const Leases&) = default;
};

struct PermissionLists {
  std::vector<RemotePermissions> lists;
  bool more = false;
  friend bool operator==(const PermissionLists&, const PermissionLists&) = default;
};

struct Needs;         // permissions/needs.h
struct RemoteCaller;  // the same

// `limit`: of rows; zero: kRowsMax, which is also the maximum. Rows end at 4 MiB; the first always fits.
class Reads {
 public:
  virtual Holders holders_of(std::string_view name) const = 0;
  virtual LockQueue queue_of(std::string_view name, uint64_t limit) const = 0;
  // nullopt: it never existed or has ended.
  virtual std::optional<SessionInfo> session(SessionId id) const = 0;
  virtual Sessions sessions_after(SessionId id, uint64_t limit) const = 0;
  // Holds with tokens above `after`. A multi-lock is shown as a whole.
  virtual HeldLocks locks_of(SessionId session, Token after) const = 0;
  virtual OwnedObjects objects_of(SessionId session, const OwnedObjects::Place& after) const = 0;
  // The token under which this owner holds the lock, other than by a delegation.
  virtual std::optional<Token> held_by(std::string_view name, SessionId session, std::string_view owner) const = 0;
  // The hold may be a lock, permits, a place or a claim.
  virtual bool still_held(std::string_view name, Token token) const = 0;
  // S-36: the result with which such a try would be refused now; nullopt: it is worth an entry. The request has passed
  // validate().
  virtual std::optional<Result> refusal_of(const Acquire& acquire) const = 0;
  virtual std::optional<Result> refusal_of(const AcquireAll& acquire) const = 0;

  virtual ObjectView object(coordination::Kind kind, std::string_view name, uint64_t limit) const = 0;
  virtual std::vector<ObjectRow> members_of(std::string_view group) const = 0;  // all, however many

  virtual Entry entry(std::string_view key) const = 0;
  // Returns at most kRowsMax entries. If more are left than its own limit cut off, a read in key order continues after the
  // last entry at the same revision. In any other order it is LimitExceeded.
  virtual KeysRead<RangeReply> range(const RangeOperation& range) const = 0;
  // The same without the count, which would scan everything again: for the remaining pages of a read that range() has begun.
  // They start right after a key, where no key need fit.
  virtual KeysRead<RangeReply> rest_of_range(const RangeOperation& range) const = 0;
  virtual KeysRead<TransactionReply> read(const Transaction& transaction) const = 0;  // InvalidArgument: it writes
  // Whether it would look at more keys than one command may (mvcc/reach.h). The transaction has passed validate().
  virtual bool reaches_too_far(const Transaction& transaction) const = 0;
  virtual Changes changes(const ChangesAfter& place) const = 0;
  virtual KeySpace key_space() const = 0;
  virtual Contents contents() const = 0;

  // Reads at most one lease. If `keys`: with as many names of its keys above `after` as one answer holds.
  virtual Leases lease(LeaseId id, bool keys, std::string_view after) const = 0;
  virtual Leases leases_after(LeaseId id, uint64_t limit) const = 0;

  virtual PermissionLists permissions(std::string_view first) const = 0;
  // Why this remote may not do what needs that, in a sentence; nullopt: it may.
  virtual std::optional<std::string> denial(const RemoteCaller& caller, const Needs& needs) const = 0;

 protected:
  ~Reads() = default;
};

}  // namespace coordkit::machine
