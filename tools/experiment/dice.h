// All that is random in an experiment: the same for the same seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace coordkit::experiment {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }
  std::chrono::milliseconds up_to(std::chrono::milliseconds longest) {
    return std::chrono::milliseconds(below(static_cast<uint64_t>(longest.count()) + 1));
  }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

}  // namespace coordkit::experiment
