// Values that occur repeatedly are stored once and named by a number. A state of the world is then a few numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "twin/fingerprint.h"

namespace coordkit::explore {

using raft::Fingerprint;
using Number = uint32_t;

struct FingerprintHash {
  size_t operator()(const Fingerprint& print) const { return print.low; }
};

template <typename Value>
class Interned {
 public:
  // The number of the value with this fingerprint; `make` is called if it is new.
  template <typename Make>
  std::pair<Number, bool> number_of(const Fingerprint& print, const Make& make) {
    const auto [at, fresh] = numbers_.try_emplace(print, static_cast<Number>(values_.size()));
    if (fresh) values_.push_back(make());
    return {at->second, fresh};
  }
  const Value& operator[](Number number) const { return values_[number]; }
  Value& operator[](Number number) { return values_[number]; }
  size_t size() const { return values_.size(); }

 private:
  std::unordered_map<Fingerprint, Number, FingerprintHash> numbers_;
  std::deque<Value> values_;
};

// From one 64-bit key to a 32-bit number; grows, never shrinks. Zero is no key.
class NumberMap {
 public:
  NumberMap() : slots_(1 << 10) {}

  const Number* find(uint64_t key) const {
    for (size_t i = place(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i].number;
      if (slots_[i].key == 0) return nullptr;
    }
  }
  void insert(uint64_t key, Number number) {
    if ((++count_) * 10 > slots_.size() * 7) grow();
    put(key, number);
  }

 private:
  struct Slot {
    uint64_t key = 0;
    Number number = 0;
  };
  size_t place(uint64_t key) const { return (key * 0x9e3779b97f4a7c15ULL >> 20) & (slots_.size() - 1); }
  void put(uint64_t key, Number number) {
    size_t i = place(key);
    while (slots_[i].key != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {key, number};
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != 0) put(slot.key, slot.number);
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace coordkit::explore
