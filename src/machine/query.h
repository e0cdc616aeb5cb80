// Reads of the machine's state without a log entry: plain values and their bytes (proto/coordkit/v1/machine.proto).
// Answers show the applied state of this replica; whether that is linearizable is the engine's business (ReadIndex).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/records.h"
#include "coordkit/types.h"
#include "machine/changes_query.h"
#include "machine/coordination_query.h"
#include "machine/key_space.h"
#include "machine/kv_command.h"
#include "machine/lease_query.h"
#include "machine/owned_objects.h"

namespace coordkit::machine {

inline constexpr uint64_t kQueryRowsMax = 10'000;  // of one answer; `more` says that there are more

struct HoldersQuery {
  std::string name;
  friend bool operator==(const HoldersQuery&, const HoldersQuery&) = default;
};
struct QueueQuery {
  std::string name;
  uint64_t limit = 0;  // 0: kQueryRowsMax
  friend bool operator==(const QueueQuery&, const QueueQuery&) = default;
};
struct SessionQuery {
  SessionId session;
  friend bool operator==(const SessionQuery&, const SessionQuery&) = default;
};
struct SessionsQuery {
  SessionId after;     // ids above it, ascending
  uint64_t limit = 0;  // 0: kQueryRowsMax
  friend bool operator==(const SessionsQuery&, const SessionsQuery&) = default;
};
struct LocksOfQuery {
  SessionId session;
  Token after = {};  // holds with tokens above it
  friend bool operator==(const LocksOfQuery&, const LocksOfQuery&) = default;
};
struct TokenStillHeldQuery {
  std::string name;
  Token token;
  friend bool operator==(const TokenStillHeldQuery&, const TokenStillHeldQuery&) = default;
};
// What would become of this encoded Request, an acquire as a try, if it were applied now (S-36). Answered with an encoded
// Result: Ok if it is worth an entry, else why it would be refused.
struct TryQuery {
  std::string request;
  friend bool operator==(const TryQuery&, const TryQuery&) = default;
};
struct GetQuery {
  std::string key;
  friend bool operator==(const GetQuery&, const GetQuery&) = default;
};
// A RangeQuery, and a Transaction that writes nothing, are answered with an encoded Result. A range has at most kQueryRowsMax
// entries; if more are left over than its own limit cut off, it goes on behind the last of them at the same revision, or, in
// another order than that of the keys, is LimitExceeded.
using Query = std::variant<std::monostate, HoldersQuery, QueueQuery, SessionQuery, SessionsQuery, LocksOfQuery,
                           TokenStillHeldQuery, GetQuery, RangeQuery, TryQuery, ObjectQuery, Transaction, RangePageQuery,
                           ChangesQuery, OwnedObjectsQuery, LeaseQuery, LeasesQuery, KeySpaceQuery>;

using coordkit::KeyValue;
using coordkit::WaiterInfo;

struct HolderInfo {
  SessionId session;
  std::string owner_tag;
  Token token;
  uint64_t count = 1;
  Index since;
  RequestId request;  // of the acquire
  std::string value;
  LockMode mode = LockMode::Exclusive;
  Token last;          // S-58: of a delegation: the last token of its block; `token` names the hold
  bool asked = false;  // of a delegation: somebody wants it
  friend bool operator==(const HolderInfo&, const HolderInfo&) = default;
};
struct SessionInfo {
  SessionId session;
  Duration ttl{};
  ReplicaId node;
  BootCounter boot;
  uint64_t incarnation = 0;
  Generation generation;
  uint64_t holds = 0;
  uint64_t waiters = 0;
  std::string metadata;
  bool ending = false;  // killed: ends a TTL after it was (S-57)
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};
struct HeldLock {
  std::string name;
  std::string owner_tag;
  Token token;
  RequestId request;
  Index since;
  LockMode mode = LockMode::Exclusive;
  uint64_t count = 1;     // acquires that the hold stands for
  uint64_t releases = 0;  // that counted it down so far
  Token last;             // as in HolderInfo
  bool asked = false;     // likewise
  friend bool operator==(const HeldLock&, const HeldLock&) = default;
};

struct HoldersReply {
  std::vector<HolderInfo> holders;
  uint64_t waiters = 0;
  bool delayed = false;  // a lock-delay runs (S-40)
  friend bool operator==(const HoldersReply&, const HoldersReply&) = default;
};
struct QueueReply {
  std::vector<WaiterInfo> waiters;
  bool more = false;
  friend bool operator==(const QueueReply&, const QueueReply&) = default;
};
struct SessionReply {
  std::optional<SessionInfo> session;  // nothing: never existed or ended
  friend bool operator==(const SessionReply&, const SessionReply&) = default;
};
struct SessionsReply {
  std::vector<SessionInfo> sessions;
  bool more = false;
  friend bool operator==(const SessionsReply&, const SessionsReply&) = default;
};
struct LocksOfReply {
  std::vector<HeldLock> locks;  // in grant order
  bool more = false;
  friend bool operator==(const LocksOfReply&, const LocksOfReply&) = default;
};
struct TokenStillHeldReply {
  bool held = false;
  friend bool operator==(const TokenStillHeldReply&, const TokenStillHeldReply&) = default;
};
// Of Get: at most one.
struct KeysReply {
  std::vector<KeyValue> keys;
  bool more = false;
  Revision revision;  // of the store now
  friend bool operator==(const KeysReply&, const KeysReply&) = default;
};

std::string encode(const Query& query);
absl::StatusOr<Query> decode_query(std::string_view bytes);  // kInvalidArgument: malformed

std::string encode(const HoldersReply& reply);
std::string encode(const QueueReply& reply);
std::string encode(const SessionReply& reply);
std::string encode(const SessionsReply& reply);
std::string encode(const LocksOfReply& reply);
std::string encode(const TokenStillHeldReply& reply);
std::string encode(const KeysReply& reply);

// kDataLoss: malformed.
absl::StatusOr<HoldersReply> decode_holders(std::string_view bytes);
absl::StatusOr<QueueReply> decode_queue(std::string_view bytes);
absl::StatusOr<SessionReply> decode_session(std::string_view bytes);
absl::StatusOr<SessionsReply> decode_sessions(std::string_view bytes);
absl::StatusOr<LocksOfReply> decode_locks_of(std::string_view bytes);
absl::StatusOr<TokenStillHeldReply> decode_token_still_held(std::string_view bytes);
absl::StatusOr<KeysReply> decode_keys(std::string_view bytes);

}  // namespace coordkit::machine
