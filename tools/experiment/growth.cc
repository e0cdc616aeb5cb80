#include "tools/experiment/growth.h"

#include <algorithm>

namespace coordkit::experiment {
namespace {

struct Point {
  double scenes, held;
};

double slope_of(const std::vector<Point>& points) {
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t k = i + 1; k < points.size(); ++k) {
      const double work = points[k].scenes - points[i].scenes;
      if (work > 0) slopes.push_back((points[k].held - points[i].held) / work);
    }
  }
  if (slopes.empty()) return 0;
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

}  // namespace

std::map<std::string, double> growth_of(const std::vector<Holding>& holdings) {
  if (holdings.size() < kHoldingsMin) return {};
  std::map<std::string, std::vector<std::vector<Point>>> courses;  // of each member
  for (size_t i = holdings.size() / 2; i < holdings.size(); ++i) {
    for (const auto& [what, members] : holdings[i].of) {
      auto& of_members = courses[what];
      of_members.resize(members.size());
      for (size_t k = 0; k < members.size(); ++k) {
        of_members[k].push_back({static_cast<double>(holdings[i].scenes), members[k]});
      }
    }
  }
  std::map<std::string, double> growth;
  for (const auto& [what, of_members] : courses) {
    std::vector<double> slopes;
    for (const auto& points : of_members) slopes.push_back(slope_of(points));
    growth[what] = 1000 * *std::ranges::max_element(slopes);
  }
  return growth;
}

}  // namespace coordkit::experiment
