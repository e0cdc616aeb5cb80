#include "coordkit/keys/txn.h"

#include <utility>

namespace coordkit {

Txn& Txn::when(Compare compare) {
  transaction_.compares.push_back(std::move(compare));
  return *this;
}

Txn& Txn::then(Operation operation) {
  transaction_.then.push_back(std::move(operation));
  return *this;
}

Txn& Txn::otherwise(Operation operation) {
  transaction_.otherwise.push_back(std::move(operation));
  return *this;
}

absl::StatusOr<TransactionResult> Txn::commit(ProposeOptions options, ReadOptions read) {
  return kv_.commit(transaction_, std::move(options), read);
}

}  // namespace coordkit
