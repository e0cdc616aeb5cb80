// How much a search may cost, and what it has cost. The problem is NP-complete: there are histories for which no search
// ends in useful time, and then "undecided" is the honest answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace coordkit::check {

class Budget {
 public:
  Budget(uint64_t steps_max, size_t configurations_max) : steps_max_(steps_max), configurations_max_(configurations_max) {}

  // A step is one question to the model: whether this operation could come next in this state.
  void spend(uint64_t steps) { steps_ += steps; }
  void met(size_t configurations) { configurations_most_ = std::max(configurations_most_, configurations); }
  bool exhausted() const { return steps_ > steps_max_ || configurations_most_ > configurations_max_; }

  uint64_t steps() const { return steps_; }
  size_t configurations_most() const { return configurations_most_; }
  // Called after one object was given up because of its configurations: the others continue, and steps stay spent.
  void forgive_configurations() { configurations_most_ = std::min(configurations_most_, configurations_max_); }

 private:
  uint64_t steps_max_;
  size_t configurations_max_;
  uint64_t steps_ = 0;
  size_t configurations_most_ = 0;
};

}  // namespace coordkit::check
