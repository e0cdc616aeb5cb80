// Numbers that are given out only once, taken from a Counter in blocks. Each `block` of numbers
// costs one log entry, each number within it nothing. They rise within one allocator, but not over
// several. The rest of a block is lost with the process.
//
//   IdAllocator orders(*replica, "orders");
//   absl::StatusOr<int64_t> order = orders.next();
//
// Threads: all methods are thread-safe. A call that fetches a block keeps the others waiting.
// Lifetime: may outlive the replica. The rest of the block is then still given out.
// Errors: a forked child gets kFailedPrecondition, because the block belongs to its parent.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "coordkit/export.h"
#include "coordkit/objects/counter.h"

namespace COORDKIT_EXPORT coordkit {

class IdAllocator {
 public:
  // `block`: numbers fetched at a time. Legal: 1 and up; less counts as 1.
  IdAllocator(const Service& service, std::string counter, int64_t block = 1000);

  // Answers the next number, from 1 on unless the counter is set. Errors as Counter::allocate(). A
  // block whose outcome is unknown is never used. kFailedPrecondition (InCallback): called in an
  // *_async callback, where it would have to fetch a block or wait for another thread that fetches
  // one.
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
