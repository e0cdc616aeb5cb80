// Why the store does not do what it is asked. Each is decided before anything is changed (docs/semantics.md section 2).
#pragma once

#include <cstdint>

namespace coordkit::mvcc {

enum class Refusal : uint8_t {
  None = 0,
  EmptyKey,
  InvalidArgument,
  InvalidSort,
  LimitExceeded,  // a key or value is too large
  ValueProvided,
  LeaseProvided,
  TooManyOps,
  DuplicateKey,
  Compacted,       // the revision is below the compacted one
  FutureRevision,  // the revision is above the newest
  KeyNotFound,     // nothing whose value or lease could be kept
  LeaseNotFound,
};

}  // namespace coordkit::mvcc
