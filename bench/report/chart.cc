#include "bench/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace coordkit::bench {
namespace {

constexpr double kWidth = 780, kHeight = 420;
constexpr double kLeft = 80, kRight = 210, kTop = 44, kBottom = 56;  // margins
constexpr double kLineHeight = 18;
// Distinguishable without colours too: by their dashes.
constexpr std::array kColours = {"#1f5fa8", "#c2410c", "#2f7d32", "#7b3fa0", "#8a6d00", "#0f766e", "#9d174d", "#4b5563"};
constexpr std::array kDashes = {"", "7 4", "2 3", "10 3 2 3", "4 2", "1 2", "12 4", "6 2 2 2"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

bool has_place(const Series::Point& point) { return point.x > 0 && point.y > 0; }

std::string label_of(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", value);
}

// One logarithmic axis between two places of the picture.
class Axis {
 public:
  Axis(double from, double to) : from_(from), to_(to) {}

  void cover(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  bool empty() const { return least_ > most_; }
  // To the next 1, 2 or 5 of a decade, so that no line lies on the edge.
  void round() {
    least_ = step(least_, false);
    most_ = step(most_, true);
    if (least_ == most_) most_ *= 2;
  }
  double place(double value) const { return from_ + (to_ - from_) * std::log(value / least_) / std::log(most_ / least_); }
  std::vector<double> ticks() const {
    std::vector<double> all;
    const bool wide = most_ / least_ > 200;  // or the labels would touch
    for (double decade = std::pow(10, std::floor(std::log10(least_))); decade <= most_; decade *= 10) {
      for (const double tick : {decade, decade * 2, decade * 5}) {
        if (tick >= least_ * 0.999 && tick <= most_ * 1.001 && (!wide || tick == decade)) all.push_back(tick);
      }
    }
    return all;
  }

 private:
  static double step(double value, bool up) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    double below = decade;
    for (const double each : {decade, decade * 2, decade * 5, decade * 10}) {
      if (up && each >= value * 0.999) return each;
      if (!up && each <= value * 1.001) below = each;
    }
    return below;
  }

  const double from_, to_;
  double least_ = std::numeric_limits<double>::max();
  double most_ = 0;
};

std::string text(double x, double y, const char* anchor, const std::string& words, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, escaped(words));
}

std::string grid(const Axis& x, const Axis& y) {
  std::string out;
  for (const double tick : x.ticks()) {
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>\n", x.place(tick), kTop, kHeight - kBottom);
    out += text(x.place(tick), kHeight - kBottom + 18, "middle", label_of(tick));
  }
  for (const double tick : y.ticks()) {
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>\n", kLeft, y.place(tick), kWidth - kRight);
    out += text(kLeft - 8, y.place(tick) + 4, "end", label_of(tick));
  }
  return out;
}

std::string line(const Series& series, size_t number, const Axis& x, const Axis& y) {
  const std::string colour = kColours[number % kColours.size()];
  std::string path, dots;
  for (const Series::Point& point : series.points) {
    if (!has_place(point)) continue;
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.place(point.x), y.place(point.y));
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {:g}, {:g}</title></circle>\n",
                        x.place(point.x), y.place(point.y), colour, escaped(series.name), point.x, point.y);
  }
  if (path.empty()) return "";
  const std::string dash = kDashes[number % kDashes.size()];
  return fmt::format("<path class=\"line\" stroke=\"{}\" stroke-dasharray=\"{}\" d=\"{}\"/>\n{}", colour, dash, path, dots);
}

std::string legend(const std::vector<Series>& series) {
  std::string out;
  for (size_t i = 0; i < series.size(); ++i) {
    const double y = kTop + 6 + kLineHeight * static_cast<double>(i);
    out += fmt::format("<path class=\"line\" stroke=\"{}\" stroke-dasharray=\"{}\" d=\"M{:.1f} {:.1f}h26\"/>\n",
                       kColours[i % kColours.size()], kDashes[i % kDashes.size()], kWidth - kRight + 14, y);
    out += text(kWidth - kRight + 46, y + 4, "start", series[i].name);
  }
  return out;
}

}  // namespace

std::string svg(const Chart& chart) {
  Axis x(kLeft, kWidth - kRight), y(kHeight - kBottom, kTop);
  for (const Series& series : chart.series) {
    for (const Series::Point& point : series.points) {
      if (!has_place(point)) continue;
      x.cover(point.x);
      y.cover(point.y);
    }
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      "<style>.grid{{stroke:#ddd;fill:none}}.line{{stroke-width:2;fill:none}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth, kHeight);
  out += text(kLeft, 24, "start", chart.title, " font-size=\"15\" font-weight=\"bold\"");
  if (!x.empty()) {
    x.round();
    y.round();
    out += grid(x, y);
    for (size_t i = 0; i < chart.series.size(); ++i) out += line(chart.series[i], i, x, y);
  }
  out += legend(chart.series);
  out += text((kLeft + kWidth - kRight) / 2, kHeight - 14, "middle", chart.x_label);
  const std::string turned = fmt::format(" transform=\"rotate(-90 18 {:.1f})\"", kHeight / 2);
  out += text(18, kHeight / 2, "middle", chart.y_label, turned.c_str());
  return out + "</svg>\n";
}

}  // namespace coordkit::bench
