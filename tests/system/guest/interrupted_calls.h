// System calls on files that a signal interrupts: those of the whole program pass here, because the program's functions take
// precedence over the C library's.
#pragma once

#include <cstdint>

namespace coordkit::testkit {

// While it lives, the first call of each kind and every fifth after it fail with EINTR. One instance at a time.
class InterruptedCalls {
 public:
  InterruptedCalls();
  ~InterruptedCalls();
  InterruptedCalls(const InterruptedCalls&) = delete;
  InterruptedCalls& operator=(const InterruptedCalls&) = delete;

  enum class Kind : uint8_t { Open, OpenAt, Sync, SyncData, Truncate, Lock, Allocate, Read, Write };
  static constexpr int kKinds = 9;
  // How many calls of this kind were interrupted.
  uint64_t of(Kind kind) const;
};

}  // namespace coordkit::testkit
