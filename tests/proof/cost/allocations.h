// Counts what this program allocates, by category: every operator new adds one to the current count. For one thread. Bytes are
// counted for all threads together.
#pragma once

#include <cstdint>

namespace coordkit::testkit {

// False under a sanitizer, which has its own allocator; nothing is counted then.
bool counts_allocations();

// The memory that operator new holds now, in bytes as malloc() rounds them. Any thread.
uint64_t live_bytes();

class CountAllocations {
 public:
  explicit CountAllocations(uint64_t& count);  // until the end of this object; inner ones count for themselves
  ~CountAllocations();
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;

 private:
  uint64_t* const previous_;
};

}  // namespace coordkit::testkit
