#include "machine/keys/kv_command.h"

namespace coordkit::machine {

ResultCode code_of(mvcc::Refusal refusal) {
  using mvcc::Refusal;
  switch (refusal) {
    case Refusal::None: return ResultCode::Ok;
    case Refusal::EmptyKey: return ResultCode::EmptyKey;
    case Refusal::InvalidArgument: return ResultCode::InvalidArgument;
    case Refusal::InvalidSort: return ResultCode::InvalidSort;
    case Refusal::LimitExceeded: return ResultCode::LimitExceeded;
    case Refusal::ValueProvided: return ResultCode::ValueProvided;
    case Refusal::LeaseProvided: return ResultCode::LeaseProvided;
    case Refusal::TooManyOps: return ResultCode::TooManyOps;
    case Refusal::DuplicateKey: return ResultCode::DuplicateKey;
    case Refusal::Compacted: return ResultCode::Compacted;
    case Refusal::FutureRevision: return ResultCode::FutureRevision;
    case Refusal::KeyNotFound: return ResultCode::KeyNotFound;
    case Refusal::LeaseNotFound: return ResultCode::LeaseNotFound;
  }
  return ResultCode::InvalidArgument;
}

Objection check(const RangeOperation& range) { return {code_of(mvcc::check(range))}; }
Objection check(const PutOperation& put) { return {code_of(mvcc::check(put))}; }
Objection check(const DeleteOperation& erase) { return {code_of(mvcc::check(erase))}; }
Objection check(const Transaction& transaction) { return {code_of(mvcc::check(transaction))}; }
Objection check(const Compact& compact) {
  return compact.at ? Objection() : invalid("the revision to compact up to is 0; give 1 or more");
}

}  // namespace coordkit::machine
