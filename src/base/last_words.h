// The status for an exception that no step expected, made at the one place of a thread where such exceptions end.
#pragma once

#include "absl/status/status.h"

namespace coordkit {

// Says why a replica must stop after an exception. The status for a failed allocation is made beforehand, so that nothing is
// allocated then.
//
// Threads: any.
class LastWords {
 public:
  LastWords();
  // Call it within `catch (...)`. A failed allocation gives OutOfMemory, a refusal by the system LimitExceeded, anything else
  // BrokenInvariant, each with the exception's what().
  absl::Status caught() const noexcept;
  const absl::Status& no_memory() const { return no_memory_; }

 private:
  absl::Status no_memory_;
};

}  // namespace coordkit
