// What the one place of a thread says where an exception ends that no step expected.
#pragma once

#include "absl/status/status.h"

namespace coordkit {

// Says why a replica must stop after an exception. What it says of a failed allocation is made beforehand, so that nothing is
// allocated then.
//
// Threads: any.
class LastWords {
 public:
  LastWords();
  // Within `catch (...)`: OutOfMemory of a failed allocation, LimitExceeded of a refusal of the system,
  // BrokenInvariant of anything else, each with what() of it.
  absl::Status caught() const noexcept;
  const absl::Status& no_memory() const { return no_memory_; }

 private:
  absl::Status no_memory_;
};

}  // namespace coordkit
