// A set of small numbers: one machine word as long as they are below 64. Equal sets are equal word by word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace coordkit::check {

class Slots {
 public:
  bool has(size_t slot) const { return slot / 64 < words_.size() && (words_[slot / 64] >> slot % 64 & 1) != 0; }
  bool empty() const { return words_.empty(); }
  void add(size_t slot) {
    if (slot / 64 >= words_.size()) words_.resize(slot / 64 + 1);
    words_[slot / 64] |= uint64_t{1} << slot % 64;
  }
  void remove(size_t slot) {
    if (slot / 64 >= words_.size()) return;
    words_[slot / 64] &= ~(uint64_t{1} << slot % 64);
    trim();
  }
  void keep_common(const Slots& other) {
    words_.resize(std::min(words_.size(), other.words_.size()));
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    trim();
  }
  bool is_part_of(const Slots& other) const {
    if (words_.size() > other.words_.size()) return false;
    for (size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & ~other.words_[i]) != 0) return false;
    }
    return true;
  }
  friend bool operator==(const Slots&, const Slots&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Slots& slots) {
    return H::combine_contiguous(std::move(state), slots.words_.data(), slots.words_.size());
  }

 private:
  void trim() {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }
  absl::InlinedVector<uint64_t, 1> words_;  // the last one is not zero
};

}  // namespace coordkit::check
