// A transaction put together piece by piece:
//
//   auto result = Txn(kv).when(Compare::modified("stock", Compare::Relation::Equal, seen))
//                        .then(PutOperation{.key = "stock", .value = "11"})
//                        .otherwise(RangeOperation::of("stock"))
//                        .commit();
//   if (result.ok() && !result->succeeded) ...   // replies[0] has the present entry
//
// With no condition `then` is executed.
//
// Threads: one at a time.
// Lifetime: may outlive the replica, as Kv.
#pragma once

#include <utility>

#include "coordkit/export.h"
#include "coordkit/keys/kv.h"

namespace COORDKIT_EXPORT coordkit {

class Txn {
 public:
  // Empty: nothing to compare, and nothing to do.
  explicit Txn(Kv kv) : kv_(std::move(kv)) {}

  // These each add one: when() a condition, then() an operation if all conditions hold, otherwise()
  // an operation if not.
  Txn& when(Compare compare);
  Txn& then(Operation operation);
  Txn& otherwise(Operation operation);

  // As Kv::commit(); may be called again, for another transaction of the same operations.
  absl::StatusOr<TransactionResult> commit(ProposeOptions options = {}, ReadOptions read = {});
  const Transaction& transaction() const { return transaction_; }  // what commit() would execute

 private:
  Kv kv_;
  Transaction transaction_;
};

}  // namespace coordkit
