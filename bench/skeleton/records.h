// What the skeleton's replicas send and store: records of one size, as they lie in memory. All of them run on one machine.
#pragma once

#include <cstdint>
#include <type_traits>

namespace coordkit::bench::skeleton {

enum class Step : uint32_t { Acquire, Release };

// One command. As long as an acquire with a short name is elsewhere, so that disk and network carry as much.
struct Record {
  Step step = Step::Acquire;
  uint32_t caller = 0;
  uint64_t lock = 0;
  uint64_t holder = 0;  // who acquires it, or lets it go
  char filling[40] = {};
};
static_assert(sizeof(Record) == 64 && std::is_trivially_copyable_v<Record>);

// Every record up to this one, counted from 1, is on the follower's disk.
struct Acknowledgement {
  uint64_t stored = 0;
};

// What a caller gets when its command is committed and applied.
struct Answer {
  uint32_t caller = 0;
  bool agreed = false;  // false: a release of what was not held
};

}  // namespace coordkit::bench::skeleton
