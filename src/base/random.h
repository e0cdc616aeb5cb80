// A small deterministic generator (splitmix64 into xoshiro256**, both public domain by D. Blackman and S. Vigna). One seed
// gives one stream. All random numbers in the core and the simulator come from here, so that a run can be repeated.
#pragma once

#include <cstdint>

namespace coordkit {

class Random {
 public:
  using result_type = uint64_t;
  __extension__ using Wide = unsigned __int128;
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = splitmix(seed);
  }
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }

  uint64_t operator()() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  // Uniform in [0, bound); bound zero gives zero.
  uint64_t below(uint64_t bound) {
    return bound == 0 ? 0 : static_cast<uint64_t>((static_cast<Wide>((*this)()) * bound) >> 64);
  }
  // Uniform in [low, high].
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  bool chance(double probability) { return static_cast<double>((*this)() >> 11) * 0x1.0p-53 < probability; }
  // An independent generator for a part of a run, so that parts do not disturb each other's streams.
  Random fork() { return Random((*this)()); }

 private:
  static uint64_t splitmix(uint64_t& seed) {
    uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4] = {};
};

}  // namespace coordkit
