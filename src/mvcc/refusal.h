// Why the store refuses an operation. Each refusal is decided before anything is changed (docs/semantics.md section 2).
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
  KeyNotFound,     // there is no value or lease to keep
  LeaseNotFound,
};

}  // namespace coordkit::mvcc
