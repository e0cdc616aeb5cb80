// Lines over logarithmic axes, as an SVG that needs nothing else.
#pragma once

#include <string>
#include <vector>

namespace coordkit::bench {

struct Series {
  struct Point {
    double x = 0, y = 0;
  };
  std::string name;
  std::vector<Point> points;  // in the order of x; what is not above zero has no place on such an axis and is left out
};

struct Chart {
  std::string title;
  std::string x_label, y_label;
  std::vector<Series> series;
};

std::string svg(const Chart& chart);

}  // namespace coordkit::bench
