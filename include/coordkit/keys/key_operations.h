// The operations on keys of the revisioned store, and their results, as plain values
// (docs/semantics.md S-05 to S-18, S-63). They run alone, or as parts of a transaction.
//
// Keys are bytes in unsigned order. An interval is [key, end). No end: the one key. An end of one
// zero byte (kNoEnd): all keys from `key` on. An empty key with that end: every key. An end at or
// below the key: an empty interval.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

inline constexpr std::string_view kNoEnd("\0", 1);  // the end of all keys from `key` on

// The end of the interval of all keys that start with `prefix`. For an empty prefix: the end of the
// interval of all keys.
std::string prefix_end(std::string_view prefix);

// The property by which a range orders its entries.
enum class SortTarget : uint8_t { Key = 0, Version = 1, Create = 2, Mod = 3, Value = 4 };
// Default is ascending, for the key and for every other target. Entries that are equal in the
// target are ordered by ascending key.
enum class SortOrder : uint8_t { Default = 0, Ascending = 1, Descending = 2 };

// Reads an interval. Filters and order apply to the whole interval; the limit is applied last.
struct RangeOperation {
  std::string key;       // the lowest key; empty: every key with kNoEnd, otherwise EmptyKey
  std::string end = {};  // exclusive; empty: the one key
  // The state right after this revision is read; zero: the newest. Above the newest:
  // FutureRevision; below the compacted one: Compacted.
  Revision revision = {};
  int64_t limit = 0;                     // of entries; zero: all
  SortTarget sort_by = SortTarget::Key;  // the property that orders the entries
  SortOrder order = SortOrder::Default;  // by default ascending
  bool keys_only = false;                // values are left out
  bool count_only = false;               // entries are left out
  Revision mod_min = {};                 // of the last change, inclusive; zero: no bound
  Revision mod_max = {};                 // of the last change, inclusive; zero: no bound
  Revision create_min = {};              // of the creation, inclusive; zero: no bound
  Revision create_max = {};              // of the creation, inclusive; zero: no bound
  friend bool operator==(const RangeOperation&, const RangeOperation&) = default;

  static RangeOperation of(std::string key) { return {.key = std::move(key)}; }  // the one key
  // All keys that start with `prefix`; empty: every key.
  static RangeOperation prefix(std::string prefix) {
    std::string end = prefix_end(prefix);
    return {.key = std::move(prefix), .end = std::move(end)};
  }
  // All keys from `key` on; empty: every key.
  static RangeOperation from(std::string key) { return {.key = std::move(key), .end = std::string(kNoEnd)}; }
  static RangeOperation all() { return from({}); }  // every key
};

// Writes one key.
struct PutOperation {
  std::string key;         // 1 to 8,192 bytes, including the digits of a sequential put
  std::string value = {};  // at most 1 MiB
  // A lease, or a session by its id. The key is deleted when it ends; it replaces the key's
  // previous lease. Zero: none.
  LeaseId lease = {};
  bool ignore_value = false;  // keeps the value; KeyNotFound without one, ValueProvided with one in
                              // `value`
  bool ignore_lease = false;  // keeps the lease; KeyNotFound, LeaseProvided
  bool previous = false;      // answers the previous entry
  // Appends the index of the log's entry to the key, as 20 digits: unique, in the order of creation
  // over all replicas (S-63). Not allowed in a transaction.
  bool sequential = false;
  friend bool operator==(const PutOperation&, const PutOperation&) = default;
};

// Deletes the keys of an interval.
struct DeleteOperation {
  std::string key;        // as in RangeOperation
  std::string end = {};   // as in RangeOperation
  bool previous = false;  // answers the previous entries, by key
  friend bool operator==(const DeleteOperation&, const DeleteOperation&) = default;
};

// A condition of a transaction. For a missing key, version, create, mod and lease are zero, and no
// condition on the value is met. For an interval, every key has to meet it; an empty interval
// counts as one missing key.
struct Compare {
  // The property that a condition is about.
  enum class Target : uint8_t {
    Version = 1,
    Create = 2,
    Mod = 3,
    Value = 4,
    Lease = 5,
    LockHeld = 6,             // the lock `key` is held under the token `number` in any mode (S-54)
    LockHeldExclusively = 7,  // the same, exclusively
    LockFree = 8,             // the lock `key` is not held
  };
  // Has no meaning for locks.
  enum class Relation : uint8_t { Equal = 1, NotEqual = 2, Less = 3, Greater = 4 };

  std::string key;                      // the key, the lowest of an interval, or the name of a lock
  std::string end = {};                 // as in RangeOperation; empty for a lock
  Target target = Target::Version;      // of the key, or a state of the lock
  Relation relation = Relation::Equal;  // of the key's property to `number` or `value`
  uint64_t number = 0;                  // the number to compare with; not used for Value
  std::string value = {};               // the bytes to compare with; only for Value
  friend bool operator==(const Compare&, const Compare&) = default;

  // These compare a number of the key, which is zero if the key is missing.
  static Compare version(std::string key, Relation relation, uint64_t number) {
    return {.key = std::move(key), .target = Target::Version, .relation = relation, .number = number};
  }
  static Compare created(std::string key, Relation relation, Revision revision) {
    return {.key = std::move(key), .target = Target::Create, .relation = relation, .number = revision.value()};
  }
  static Compare modified(std::string key, Relation relation, Revision revision) {
    return {.key = std::move(key), .target = Target::Mod, .relation = relation, .number = revision.value()};
  }
  // Never met by a missing key.
  static Compare value_of(std::string key, Relation relation, std::string value) {
    return {.key = std::move(key), .target = Target::Value, .relation = relation, .value = std::move(value)};
  }
  // Zero: the key has no lease, or is missing.
  static Compare lease_of(std::string key, Relation relation, LeaseId lease) {
    return {.key = std::move(key), .target = Target::Lease, .relation = relation, .number = lease.value()};
  }
  // The key is there.
  static Compare exists(std::string key) { return version(std::move(key), Relation::Greater, 0); }
  // The key is not there.
  static Compare missing(std::string key) { return version(std::move(key), Relation::Equal, 0); }
  // The lock is held under this token, in any mode (S-54).
  static Compare lock_held(std::string lock, Token token) {
    return {.key = std::move(lock), .target = Target::LockHeld, .number = token.value()};
  }
  // No owner holds the lock.
  static Compare lock_free(std::string lock) { return {.key = std::move(lock), .target = Target::LockFree}; }
};

struct Operation;

// If all compares hold, `then` is executed, else `otherwise`, as one change with one revision, or
// with no change at all. Compares read the state before the transaction, nested ones too. Ranges
// see the effects of the operations before them. TooManyOps: more than 128 compares, or more than
// 128 operations of a branch, or nested more than 8 deep. A nested transaction has only the
// operations that those around it leave over. DuplicateKey: a key is put more than once in a
// branch, or put and deleted in it. A nested transaction counts with both its branches.
struct Transaction {
  std::vector<Compare> compares;     // none: `then` is executed
  std::vector<Operation> then;       // executed if all compares hold
  std::vector<Operation> otherwise;  // executed if one does not hold
  friend bool operator==(const Transaction&, const Transaction&);
};

// An operation of a transaction. Converts from each kind.
struct Operation {
  // A vector of one: a transaction within the transaction.
  using Body = std::variant<std::monostate, RangeOperation, PutOperation, DeleteOperation, std::vector<Transaction>>;
  Body body;  // monostate: InvalidArgument

  Operation() = default;
  // From a range.
  Operation(RangeOperation range) : body(std::move(range)) {}  // NOLINT: meant to convert
  // From a put.
  Operation(PutOperation put) : body(std::move(put)) {}  // NOLINT
  // From a deletion.
  Operation(DeleteOperation erase) : body(std::move(erase)) {}  // NOLINT
  // From a transaction, which is then nested in another one.
  Operation(Transaction nested);  // NOLINT
  friend bool operator==(const Operation&, const Operation&);
};

inline Operation::Operation(Transaction nested) : body(std::vector<Transaction>()) {
  std::get<std::vector<Transaction>>(body).push_back(std::move(nested));
}
inline bool operator==(const Operation& a, const Operation& b) { return a.body == b.body; }
inline bool operator==(const Transaction& a, const Transaction& b) {
  return a.compares == b.compares && a.then == b.then && a.otherwise == b.otherwise;
}

// ---- results

// The reply to a range of a transaction.
struct RangeReply {
  std::vector<KeyValue> entries;  // in the requested order
  bool more = false;              // the limit cut something off
  uint64_t count = 0;             // keys of the interval at that revision, before filters and limit
  friend bool operator==(const RangeReply&, const RangeReply&) = default;
};
// The reply to a put of a transaction.
struct PutReply {
  std::string key = {};              // of a sequential put: the key it made
  std::optional<KeyValue> previous;  // if requested, and there was one
  friend bool operator==(const PutReply&, const PutReply&) = default;
};
// The reply to a deletion of a transaction.
struct DeleteReply {
  uint64_t deleted = 0;            // keys that were there
  std::vector<KeyValue> previous;  // if requested, by key
  friend bool operator==(const DeleteReply&, const DeleteReply&) = default;
};

struct OperationReply;
// The reply to a transaction, nested or not.
struct TransactionReply {
  bool succeeded = false;               // all compares held
  std::vector<OperationReply> replies;  // one for each operation of the branch that was executed
  friend bool operator==(const TransactionReply&, const TransactionReply&);
};
// The reply to one operation of a transaction.
struct OperationReply {
  // Its kind is the operation's. A vector of one: the reply to a nested transaction.
  std::variant<std::monostate, RangeReply, PutReply, DeleteReply, std::vector<TransactionReply>> body;
  friend bool operator==(const OperationReply&, const OperationReply&);
};
inline bool operator==(const OperationReply& a, const OperationReply& b) { return a.body == b.body; }
inline bool operator==(const TransactionReply& a, const TransactionReply& b) {
  return a.succeeded == b.succeeded && a.replies == b.replies;
}

}  // namespace coordkit
