// Whether what processes hold grows with the work they have done.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace coordkit::experiment {

// The amounts that the members held at rest, after so many scenes of all of them.
struct Holding {
  uint64_t scenes = 0;
  std::map<std::string, std::vector<double>> of;  // by what it is, of each member
};

// By what it is: how much more of it there is with every thousand scenes, in the member where that is most. The first half does
// not count: there buffers and tables come to their size. The slope is the median of those between any two holdings
// (Theil and Sen), so that a few that lie apart do not matter. Empty: there are fewer than kHoldingsMin.
inline constexpr size_t kHoldingsMin = 12;
std::map<std::string, double> growth_of(const std::vector<Holding>& holdings);

}  // namespace coordkit::experiment
