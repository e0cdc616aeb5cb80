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

ResultCode check(const RangeOperation& range) { return code_of(mvcc::check(range)); }
ResultCode check(const PutOperation& put) { return code_of(mvcc::check(put)); }
ResultCode check(const DeleteOperation& erase) { return code_of(mvcc::check(erase)); }
ResultCode check(const Transaction& transaction) { return code_of(mvcc::check(transaction)); }
ResultCode check(const Compact& compact) { return compact.at ? ResultCode::Ok : ResultCode::InvalidArgument; }

}  // namespace coordkit::machine
