// The state of the skeleton's replicas: who holds each lock, and who waits for it in the order of the log.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "bench/skeleton/records.h"

namespace coordkit::bench::skeleton {

class LockTable {
 public:
  // Appends what this record decides: nothing for an acquire that waits, two answers for a release that a caller waited
  // for, the next holder's first.
  void apply(const Record& record, std::vector<Answer>& answers);

 private:
  struct Waiter {
    uint64_t holder = 0;
    uint32_t caller = 0;
  };

  absl::flat_hash_map<uint64_t, uint64_t> holders_;  // by lock
  absl::flat_hash_map<uint64_t, std::deque<Waiter>> waiters_;
};

}  // namespace coordkit::bench::skeleton
