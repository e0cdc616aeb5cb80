// The fingerprints of all worlds seen so far: 64 bits each, open addressing. Two worlds are taken for one if their prints
// collide: for n states the chance that this happens anywhere is about n^2 / 2^65, which the report states.
#pragma once

#include <cstdint>
#include <vector>

namespace coordkit::explore {

class StateSet {
 public:
  StateSet() : slots_(1 << 16) {}

  bool insert(uint64_t print) {  // false: already known
    if (print == 0) print = 1;
    if ((count_ + 1) * 5 > slots_.size() * 4) grow();
    if (!put(print)) return false;
    ++count_;
    return true;
  }
  size_t size() const { return count_; }

 private:
  bool put(uint64_t print) {
    size_t i = print >> 3 & (slots_.size() - 1);
    for (; slots_[i] != 0; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i] == print) return false;
    }
    slots_[i] = print;
    return true;
  }
  void grow() {
    std::vector<uint64_t> old(slots_.size() * 2);
    old.swap(slots_);
    for (const uint64_t print : old) {
      if (print != 0) put(print);
    }
  }

  std::vector<uint64_t> slots_;
  size_t count_ = 0;
};

}  // namespace coordkit::explore
