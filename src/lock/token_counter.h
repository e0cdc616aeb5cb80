// The one counter behind fencing tokens and session ids (docs/semantics.md S-47, S-45). It only grows, and only inside apply.
// Genesis starts it from the calendar: numbers stay above those of any earlier life of the cluster, and positive in a signed
// column.
#pragma once

#include <cstdint>
#include <limits>

#include "base/check.h"
#include "coordkit/types.h"

namespace coordkit::lock {

class TokenCounter {
 public:
  static constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();

  TokenCounter() = default;
  explicit TokenCounter(uint64_t last) : last_(last) {}

  // INV_L04: every number is above all numbers before it.
  uint64_t next() {
    COORDKIT_CHECK_MSG(last_ < kMax, "INV_L04");
    return ++last_;
  }
  // S-58: takes the next `count` numbers as well. A block ends with the returned number.
  uint64_t reserve(uint64_t count) {
    COORDKIT_CHECK_MSG(count <= kMax - last_, "INV_L04");
    return last_ += count;
  }
  uint64_t last() const { return last_; }

 private:
  uint64_t last_ = 0;
};

}  // namespace coordkit::lock
