// Makes malloc() of this program fail, once for each call stack that allocates on a thread of coordkit's own. Operator new,
// Asio, OpenSSL and LMDB all allocate with it.
//
// The failures so far are kept in memory that forked processes share: a process that dies of a failure is replaced by another
// one, which fails the rest.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::testkit {

// False under a sanitizer, which has its own malloc().
bool replaces_malloc();

struct ThreadTally {
  std::string name;          // "coordkit/..."
  uint64_t allocations = 0;  // by threads of that name
  uint64_t failed = 0;       // of them: one for each call stack that was met while failures were armed
};

struct FailedAllocation {
  static constexpr size_t kFramesMax = 48;
  char thread[16] = {};
  uint64_t number = 0;  // of all failures, from 1
  size_t bytes = 0;
  int frames = 0;
  uintptr_t stack[kFramesMax] = {};
};

// Made before the first fork; everything else is in that memory.
void share_failures();

// The next allocation with a stack that has not failed yet fails, and so do the `also` allocations of its thread after it.
// Then nothing fails until this is called again. The threads take turns, because otherwise the busiest one takes nearly every
// failure. If `first` is named, only the allocations of that thread fail.
void arm_failures(uint64_t also, std::string_view first = {});
void disarm_failures();
bool failures_armed();
uint64_t failures();              // so far
FailedAllocation last_failure();  // of any process
std::vector<ThreadTally> thread_tallies();
// How many frames tell two stacks apart, counted from malloc(); at most FailedAllocation::kFramesMax.
void set_stack_depth(int frames);
// Only the stacks of this part fail, of so many parts. The parts together have all stacks.
void set_part(uint64_t part, uint64_t parts);

// The calling thread is the host's: its allocations never fail.
void never_fail_here();

}  // namespace coordkit::testkit
