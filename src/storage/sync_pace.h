// Whether a thread that has other things to do may wait for the next sync: on a disk whose last ones were all quick. One that
// is not known yet is taken to be. Pure; times are given to it.
#pragma once

#include <chrono>
#include <cstdint>

namespace coordkit {

class SyncPace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Zero: no sync is quick.
  explicit SyncPace(Duration quick_max) : quick_max_(quick_max) {}

  void took(Duration sync) {
    if (sync > quick_max_) {
      in_a_row_ = 0;
    } else if (in_a_row_ < kInARow) {
      ++in_a_row_;
    }
  }
  bool quick() const { return in_a_row_ == kInARow && quick_max_ > Duration::zero(); }

  static constexpr uint32_t kInARow = 32;  // so many, and one slow one starts it anew

 private:
  const Duration quick_max_;
  uint32_t in_a_row_ = kInARow;
};

}  // namespace coordkit
