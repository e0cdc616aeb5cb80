#include "bench/report/plots.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace coordkit::bench {
namespace {

struct Wanted {
  std::string_view figure, file, what, unit;
};
constexpr std::array kWanted = {Wanted{"cycles_per_s", "throughput", "operations per second", "operations/s"},
                                Wanted{"p50_us", "latency", "median latency", "us"},
                                Wanted{"p99_us", "latency-p99", "99th percentile of latency", "us"}};

using ByLine = std::map<std::pair<std::string, std::string>, std::vector<Subject>>;  // who and where, callers ascending

std::map<std::string, ByLine> by_kind(const Figures& figures) {
  std::map<std::string, ByLine> kinds;
  for (const Subject& subject : figures.subjects()) kinds[subject.kind][{subject.who, subject.where}].push_back(subject);
  std::erase_if(kinds, [](const auto& kind) {
    return std::ranges::none_of(kind.second, [](const auto& line) { return line.second.size() > 1; });
  });
  return kinds;
}

Series series_of(const std::string& name, const std::vector<Subject>& subjects, const Figures& figures,
                 std::string_view figure) {
  Series series{.name = name, .points = {}};
  for (const Subject& subject : subjects) {
    const auto value = figures.median(subject, figure);
    if (value) series.points.push_back({static_cast<double>(subject.callers), value->value});
  }
  return series;
}

Chart chart_of(const std::string& kind, const ByLine& lines, const Figures& figures, const Wanted& wanted) {
  Chart chart{
      .title = kind + ": " + std::string(wanted.what), .x_label = "callers", .y_label = std::string(wanted.unit), .series = {}};
  for (const auto& [line, subjects] : lines) {
    Series series = series_of(line.first + ", " + line.second, subjects, figures, wanted.figure);
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<Plot> plots_of(const Figures& figures) {
  std::vector<Plot> plots;
  for (const auto& [kind, lines] : by_kind(figures)) {
    for (const Wanted& wanted : kWanted) {
      Chart chart = chart_of(kind, lines, figures, wanted);
      if (!chart.series.empty()) plots.push_back({kind + "-" + std::string(wanted.file) + ".svg", std::move(chart)});
    }
  }
  return plots;
}

}  // namespace coordkit::bench
