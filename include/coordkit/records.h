// Results of queries of the replicated state, in one form for the machine that answers and for the
// caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// How a lock is held: by one owner alone, or by any number of owners that share it.
enum class LockMode : uint8_t { Exclusive = 1, Shared = 2 };

// One of the locks that are requested or held together.
struct NamedLock {
  std::string name;                     // of the lock: 1 to 1,024 bytes
  LockMode mode = LockMode::Exclusive;  // in which it is requested or held
  friend bool operator==(const NamedLock&, const NamedLock&) = default;
};

// The texts that a hold shows to callers that ask for its lock. `Text` is a string, or another form
// in which coordkit keeps them.
template <typename Text>
struct HoldTextsOf {
  Text value{};  // as acquired with, or last updated; at most 4 KiB
  friend bool operator==(const HoldTextsOf&, const HoldTextsOf&) = default;
};
using HoldTexts = HoldTextsOf<std::string>;  // as a caller gives and gets them

// A holder of a lock.
struct HolderInfo {
  SessionId session;                    // that holds it
  std::string owner_tag;                // the thread of control that holds it; "~..." was drawn
  Token token;                          // its fencing token, as the log granted it (S-58)
  Index since;                          // the entry that granted it
  RequestId request;                    // of the acquire
  HoldTexts texts;                      // that the hold shows
  LockMode mode = LockMode::Exclusive;  // in which it is held
  uint64_t count = 1;                   // acquires that the hold counts
  friend bool operator==(const HolderInfo&, const HolderInfo&) = default;
};
// A lock that a session holds. All names of one acquire_all have the same token.
struct HeldLockInfo : HolderInfo {
  std::string name;  // of the lock
  friend bool operator==(const HeldLockInfo&, const HeldLockInfo&) = default;
};

// A waiter for a lock.
struct WaiterInfo {
  uint64_t position = 0;                // from 0
  SessionId session;                    // that waits
  std::string owner_tag;                // the thread of control that waits (LockOptions::owner);
                                        // "~..." was drawn
  Index since;                          // the entry that queued it
  RequestId request;                    // of the acquire
  LockMode mode = LockMode::Exclusive;  // the mode that it waits for
  friend bool operator==(const WaiterInfo&, const WaiterInfo&) = default;
};

// A right of a remote, for the names of keys, locks and objects that begin with a prefix. No right
// contains another one (docs/remote.md has the rights that each call needs).
enum class Right : uint8_t {
  Read = 1,   // to see keys, their changes, holders of locks, and objects
  Write = 2,  // to change keys, counters and groups, and to put items into queues
  Lock = 3,   // to acquire locks, to lead, to use semaphores, latches and barriers, to claim items
  Admin = 4,  // to end what others hold; with every name: also quota, compaction, permissions
};

// One entry of a list of permissions.
struct Permission {
  std::string prefix;         // of the names; empty: every name. At most 1,024 bytes
  Right right = Right::Read;  // for these names
  friend bool operator==(const Permission&, const Permission&) = default;
};

// The list of a remote.
struct RemotePermissions {
  std::string remote;            // its name; empty: of all remotes that have no list of their own
  std::vector<Permission> list;  // as it was set; empty: it may do nothing
  friend bool operator==(const RemotePermissions&, const RemotePermissions&) = default;
};

// A session in one applied state.
struct SessionInfo {
  SessionId session;     // its id
  Duration ttl{};        // as granted
  ReplicaId node;        // the replica whose client renews it
  BootCounter boot;      // the opening of that replica that it is bound to
  uint64_t holds = 0;    // holds of locks; one of several names counts once
  uint64_t waiters = 0;  // acquires of locks in line, counted alike
  std::string metadata;  // as it was opened with
  bool ending = false;   // killed: it is no longer renewed and ends within its TTL
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};

// A key of the store with the revisions that made it (docs/semantics.md S-02).
struct KeyValue {
  std::string key;       // 1 to 8,192 bytes
  std::string value;     // at most 1 MiB; empty where a read leaves values out
  Revision create;       // of the put that created it, after its last deletion
  Revision mod;          // of its last change
  uint64_t version = 0;  // 1 at creation, one more with each put; zero: a deletion (WatchEvent)
  LeaseId lease = {};    // or session, with whose end the key is deleted; zero: none
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// How much the replicated state holds now: it makes up a replica's memory (docs/operations.md,
// "Memory").
struct Contents {
  uint64_t sessions = 0;    // that have not ended
  uint64_t leases = 0;      // of keys
  uint64_t locks = 0;       // names that are held or waited for
  uint64_t claims = 0;      // holds and waits on them
  uint64_t objects = 0;     // records of semaphores, barriers and the like
  uint64_t keys = 0;        // that exist
  uint64_t changes = 0;     // of keys that can still be read, including past ones and deletions
  uint64_t key_weight = 0;  // of these, as a quota counts it (coordkit/keys/key_space.h)
  friend bool operator==(const Contents&, const Contents&) = default;
};

}  // namespace coordkit
