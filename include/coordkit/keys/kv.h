// The revisioned store with all its options: ranges, puts and deletes that answer the previous
// entries, transactions, compaction.
//
//   Kv kv(*replica);
//   auto all = kv.range(RangeOperation::prefix("config/"));
//   auto created = kv.commit({{Compare::missing("leader")},
//                             {PutOperation{.key = "leader", .value = "me"}},
//                             {RangeOperation::of("leader")}});
//
// Every change has a revision, and every earlier state can be read by its revision until it is
// compacted. A write is durable on a majority when it is answered. It takes effect exactly once,
// however often the library repeats it. Reads are linearizable unless `read` says otherwise, and
// change nothing. The operations and their refusals: key_operations.h, client/keys.h. Transactions
// piece by piece: txn.h.
//
// Threads: all methods are thread-safe. Callbacks of the *_async methods run on the engine's
// thread, where nothing may block.
// Lifetime: may outlive the replica. Then every call is kFailedPrecondition.
// Errors: outcome_of() says whether a write may have taken effect, as with CallTimeout or Stopped.
// With ResultTooLarge it did take effect.
// Example: examples/06_keys.
#pragma once

#include <memory>
#include <string>

#include "coordkit/call.h"
#include "coordkit/client/keys.h"
#include "coordkit/export.h"
#include "coordkit/service.h"

namespace COORDKIT_EXPORT coordkit {

class Kv {
 public:
  // The store, as this replica serves it.
  explicit Kv(const Service& service);
  Kv(const Kv&) = default;  // a moved-from object is unchanged
  Kv& operator=(const Kv&) = default;

  // Reads one key; a missing key is an empty answer. kInvalidArgument (EmptyKey), kUnavailable
  // (NoLeader).
  absl::StatusOr<GetResult> get(std::string key, QueryOptions options = {}) const;
  // Reads an interval, all of it at one revision. kInvalidArgument (EmptyKey, InvalidSort, a
  // negative limit), kOutOfRange (Compacted, FutureRevision: revision_of() has it),
  // kResourceExhausted (LimitExceeded: too much for an order other than that of the keys).
  absl::StatusOr<RangeResult> range(RangeOperation range, QueryOptions options = {}) const;

  // These write. Each takes one revision, but none if it deletes nothing.
  // Errors: as propose(), and these:
  // kInvalidArgument (EmptyKey, ValueProvided, LeaseProvided), kNotFound (KeyNotFound,
  // LeaseNotFound), kResourceExhausted (LimitExceeded: key above 8 KiB, value above 1 MiB; NoSpace:
  // the quota), kFailedPrecondition (Fenced).
  absl::StatusOr<PutResult> put(std::string key, std::string value, ProposeOptions options = {});
  absl::StatusOr<PutResult> put(PutOperation put, ProposeOptions options = {});
  absl::StatusOr<EraseResult> erase(std::string key, ProposeOptions options = {});
  absl::StatusOr<EraseResult> erase(DeleteOperation erase, ProposeOptions options = {});

  // Executes all of it or nothing, in one revision. A transaction without puts and deletes writes
  // nothing to the log; `read` says how it is read.
  // Errors: those of its operations. kInvalidArgument (TooManyOps, DuplicateKey).
  // kResourceExhausted (LimitExceeded): its intervals together cover more than a million keys, and
  // more than there are. For one that is only read: its answer has more than 10,000 entries or 4
  // MiB.
  absl::StatusOr<TransactionResult> commit(Transaction transaction, ProposeOptions options = {}, ReadOptions read = {});

  // Gives up earlier states: reads below `at` are Compacted from here on. Memory is freed little by
  // little. kInvalidArgument (zero), kOutOfRange (Compacted: it was already; FutureRevision).
  absl::StatusOr<CompactResult> compact(Revision at, ProposeOptions options = {});

  // These are the same without blocking.
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
