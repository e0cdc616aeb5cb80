// Puts, deletes and transactions over a Store (docs/semantics.md S-11 to S-18).
//
// check() rejects operations that no state could make possible. The other functions then decide everything that depends on
// the state before they change anything, so a refusal leaves no trace.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "coordkit/keys/key_operations.h"
#include "mvcc/range.h"
#include "mvcc/store.h"

namespace coordkit::mvcc {

// Limits of docs/semantics.md S-17; part of the replicated behaviour.
inline constexpr size_t kKeyBytesMax = 8192;
inline constexpr size_t kValueBytesMax = 1 << 20;
inline constexpr size_t kLockNameBytesMax = 1024;
inline constexpr size_t kOperationsMax = 128;  // compares, or operations of a branch; with those of enclosing transactions
inline constexpr size_t kDepthMax = 8;         // nesting of transactions
inline constexpr size_t kSequenceDigits = 20;  // appended by a sequential put

Refusal check_interval(std::string_view key, std::string_view end);  // EmptyKey, LimitExceeded
Refusal check(const PutOperation& put);                              // the key of a sequential put is its prefix
Refusal check(const DeleteOperation& erase);
Refusal check(const Transaction& transaction);

// The facts that a command has to know about the state outside the store.
struct Surroundings {
  absl::FunctionRef<bool(LeaseId)> lease_exists;
  absl::FunctionRef<bool(const Compare&)> lock_condition;  // of a target that names a lock
};

// Refusals: KeyNotFound, LeaseNotFound.
Refusal execute(Store& store, const PutOperation& put, const Surroundings& around, Store::Change& change, PutReply& reply);
void execute(Store& store, const DeleteOperation& erase, Store::Change& change, DeleteReply& reply);
// Refusals: KeyNotFound, LeaseNotFound, Compacted, FutureRevision.
Refusal execute(Store& store, const Transaction& transaction, const Surroundings& around, Store::Change& change,
                TransactionReply& reply);

// The same for a transaction without writes(). LimitExceeded: `room` is not enough for its answer, and no more than that was
// copied.
Refusal read(const Store& store, const Transaction& transaction, const Surroundings& around, const RangeRoom& room,
             TransactionReply& reply);

// Whether it could change a key, whichever branch is taken.
bool writes(const Transaction& transaction);
// Whether entries of keys could be in its answer, whichever branch is taken.
bool answers_entries(const Transaction& transaction);

}  // namespace coordkit::mvcc
