// Visits every world of a scope, nearest first, so that a violation is found by one of its shortest paths.
//
// Letters repeat without end, but every counter of the core moves only with a budget, so the number of worlds is finite.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "world.h"

namespace coordkit::explore {

struct Findings {
  uint64_t states = 0;
  uint64_t transitions = 0;
  uint64_t depth = 0;
  bool complete = false;  // nothing was left out
  std::string violation;
  std::vector<Move> trace;  // to the violation, its last move included
  // The reach of the worlds, so that a scope that reaches nothing is noticed.
  uint64_t leaders_most = 0;  // terms with a leader, in one world
  uint64_t committed_most = 0;
};

struct Bounds {
  uint64_t states_max = ~uint64_t{0};
  std::function<void(const Findings&, size_t level)> on_level;
};

Findings search(Space& space, const Bounds& bounds);

}  // namespace coordkit::explore
