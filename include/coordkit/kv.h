// The revisioned store with all its options: ranges, puts and deletes that say what was there, transactions, compaction.
//
//   Kv kv(*replica);
//   auto all = kv.range(RangeOperation::prefix("config/"));
//   auto created = kv.commit({{Compare::missing("leader")}, {PutOperation{.key = "leader", .value = "me"}},
//                             {RangeOperation::of("leader")}});
//
// Every change has a revision, and what was there at any revision can be read until it is compacted. A write is durable on
// a majority when it is answered, and takes effect exactly once however often the library repeats it. Reads are linearizable
// unless `read` says otherwise, and change nothing. Threads: all methods are thread-safe; the *_async ones are answered on the
// engine's thread, where nothing may block. Lifetime: may outlive the replica; then every call is kFailedPrecondition. Failure:
// outcome_of() says whether a write may have been done, as with CallTimeout or Stopped; of ResultTooLarge that it was.
// Example: examples/06_keys. What the operations do, and what each is refused for: key_operations.h, client/keys.h.
// Transactions piece by piece: txn.h.
#pragma once

#include <memory>
#include <string>

#include "coordkit/call.h"
#include "coordkit/client/keys.h"
#include "coordkit/export.h"
#include "coordkit/replica.h"

namespace COORDKIT_EXPORT coordkit {

class Kv {
 public:
  explicit Kv(const Replica& replica);
  Kv(const Kv&) = default;  // one that was moved from is as before
  Kv& operator=(const Kv&) = default;

  // One key; a missing one is an empty answer. kInvalidArgument (EmptyKey), kUnavailable (NoLeader).
  absl::StatusOr<GetResult> get(std::string key, QueryOptions options = {}) const;
  // An interval, all of it at one revision. kInvalidArgument (EmptyKey, InvalidSort, a negative limit), kOutOfRange (Compacted,
  // FutureRevision: revision_of() has it), kResourceExhausted (LimitExceeded: too much for another order than that of the
  // keys).
  absl::StatusOr<RangeResult> range(RangeOperation range, QueryOptions options = {}) const;

  // kInvalidArgument (EmptyKey, ValueProvided, LeaseProvided), kNotFound (KeyNotFound, LeaseNotFound), kResourceExhausted
  // (LimitExceeded: key above 8 KiB, value above 1 MiB; NoSpace: the quota), kFailedPrecondition (Fenced). As of propose().
  absl::StatusOr<PutResult> put(std::string key, std::string value, ProposeOptions options = {});
  absl::StatusOr<PutResult> put(PutOperation put, ProposeOptions options = {});
  absl::StatusOr<EraseResult> erase(std::string key, ProposeOptions options = {});
  absl::StatusOr<EraseResult> erase(DeleteOperation erase, ProposeOptions options = {});

  // All or nothing, in one revision. One without puts and deletes writes nothing to the log, and is read as `read` says.
  // kInvalidArgument (TooManyOps, DuplicateKey), kResourceExhausted (LimitExceeded: its intervals cover more than a million
  // keys together, and more than there are; it is read, and its answer has more than 10,000 entries or 4 MiB), and whatever its
  // operations are refused for.
  absl::StatusOr<TransactionResult> commit(Transaction transaction, ProposeOptions options = {}, ReadOptions read = {});

  // Gives up what was before: reads below `at` are Compacted from here on. Memory comes back little by little.
  // kInvalidArgument (zero), kOutOfRange (Compacted: it was already; FutureRevision).
  absl::StatusOr<CompactResult> compact(Revision at, ProposeOptions options = {});

  AsyncCall range_async(RangeOperation range, QueryOptions options, Callback<RangeResult> done) const;
  AsyncCall put_async(PutOperation put, ProposeOptions options, Callback<PutResult> done);
  AsyncCall erase_async(DeleteOperation erase, ProposeOptions options, Callback<EraseResult> done);
  AsyncCall commit_async(Transaction transaction, ProposeOptions options, ReadOptions read, Callback<TransactionResult> done);
  AsyncCall compact_async(Revision at, ProposeOptions options, Callback<CompactResult> done);

 private:
  friend class Stm;
  friend class StmRun;
  std::shared_ptr<class Host> host_;
};

}  // namespace coordkit
