// Numbers that are given out only once, taken from a Counter in blocks: one log entry for each `block` of them, the others cost
// nothing. They rise within one allocator, not over several; what is left of a block is lost with the process.
//
//   IdAllocator orders(*replica, "orders");
//   absl::StatusOr<int64_t> order = orders.next();
//
// Threads: all methods are thread-safe; one that fetches a block keeps the others waiting. Lifetime: may outlive the replica;
// then what is left of the block is still given out. A forked child gets kFailedPrecondition: the block is its parent's.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "coordkit/counter.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class IdAllocator {
 public:
  // `block`: numbers fetched at a time. Legal: 1 and up; less counts as 1.
  IdAllocator(const Replica& replica, std::string counter, int64_t block = 1000);

  // From 1 on, unless the counter is set. Errors as Counter::allocate(); a block whose outcome is unknown is never used.
  // kFailedPrecondition (InCallback): in an *_async callback, where it would have to fetch a block or wait for who does.
  absl::StatusOr<int64_t> next();

 private:
  std::shared_ptr<class Host> host_;
  Counter counter_;
  const int64_t block_;
  std::mutex mutex_;
  int64_t last_ = 0;  // of the block
  int64_t left_ = 0;
};

}  // namespace coordkit
