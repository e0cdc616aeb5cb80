// Whether a thread that has other things to do may wait for the next sync: yes on a disk whose recent syncs were all fast. An
// unknown disk is assumed to be fast. Pure; times are passed in.
#pragma once

#include <chrono>
#include <cstdint>

namespace coordkit {

class SyncPace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Zero: no sync counts as fast.
  explicit SyncPace(Duration quick_max) : quick_max_(quick_max) {}

  void took(Duration sync) {
    if (sync > quick_max_) {
      in_a_row_ = 0;
    } else if (in_a_row_ < kInARow) {
      ++in_a_row_;
    }
  }
  bool quick() const { return in_a_row_ == kInARow && quick_max_ > Duration::zero(); }

  static constexpr uint32_t kInARow = 32;  // this many; one slow sync resets the count

 private:
  const Duration quick_max_;
  uint32_t in_a_row_ = kInARow;
};

}  // namespace coordkit
