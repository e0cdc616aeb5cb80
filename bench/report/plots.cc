#include "bench/report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "bench/report/percentiles.h"

namespace coordkit::bench {
namespace {

using Subjects = std::vector<Subject>;
using Lines = std::map<std::string, Subjects>;  // by the line's name

bool is_open(const Subject& subject) { return subject.due_per_s > 0; }

std::string line_of(const Subject& subject) { return subject.who + ", " + subject.where; }

std::string rate_of(const Subject& subject) {
  const double rate = subject.due_per_s;
  return rate < 1000 ? fmt::format("{:g}/s", rate) : fmt::format("{:g}k/s", rate / 1000);
}

std::map<std::string, Lines> lines_by_kind(const Figures& figures, bool open) {
  std::map<std::string, Lines> kinds;
  for (const Subject& subject : figures.subjects()) {
    if (is_open(subject) == open) kinds[subject.kind][line_of(subject)].push_back(subject);
  }
  return kinds;
}

bool any_of_several(const Lines& lines) {
  return std::ranges::any_of(lines, [](const auto& line) { return line.second.size() > 1; });
}

// `x` of each subject against its median figure.
template <typename X>
Series series_of(const std::string& name, const Subjects& subjects, const Figures& figures, std::string_view figure, X x) {
  Series series{.name = name, .points = {}};
  for (const Subject& subject : subjects) {
    if (const auto value = figures.median(subject, figure)) series.points.push_back({x(subject), value->value});
  }
  return series;
}

void add(std::vector<Plot>& plots, const std::string& file, Chart chart) {
  std::erase_if(chart.series, [](const Series& series) { return series.points.empty(); });
  if (!chart.series.empty()) plots.push_back({file + ".svg", std::move(chart)});
}

// ---- closed loops: how it scales with callers

struct Wanted {
  std::string_view figure, file, what, unit;
};
constexpr std::array kAgainstCallers = {Wanted{"cycles_per_s", "throughput", "operations per second", "operations/s"},
                                        Wanted{"p50_us", "latency", "median latency", "us"},
                                        Wanted{"p99_us", "latency-p99", "99th percentile of latency", "us"}};

void add_scaling(std::vector<Plot>& plots, const std::string& kind, const Lines& lines, const Figures& figures) {
  if (!any_of_several(lines)) return;
  for (const Wanted& wanted : kAgainstCallers) {
    Chart chart{.title = kind + ": " + std::string(wanted.what),
                .x_label = "callers",
                .y_label = std::string(wanted.unit),
                .series = {}};
    for (const auto& [line, subjects] : lines) {
      chart.series.push_back(series_of(line, subjects, figures, wanted.figure,
                                       [](const Subject& subject) { return static_cast<double>(subject.callers); }));
    }
    add(plots, kind + "-" + std::string(wanted.file), std::move(chart));
  }
}

// ---- open loops: latency against what is offered, and its distribution

void add_offered(std::vector<Plot>& plots, const std::string& kind, const Lines& lines, const Figures& figures) {
  if (!any_of_several(lines)) return;
  Chart chart{.title = kind + ": latency from the moment an operation is due",
              .x_label = "operations offered per second",
              .y_label = "us",
              .series = {}};
  for (const auto& [line, subjects] : lines) {
    for (const auto& [figure, name] : {std::pair{"p50_us", ", p50"}, {"p99_us", ", p99"}}) {
      chart.series.push_back(
          series_of(line + name, subjects, figures, figure, [](const Subject& subject) { return subject.due_per_s; }));
    }
  }
  add(plots, kind + "-offered", std::move(chart));
}

void add_percentiles(std::vector<Plot>& plots, const std::string& kind, const Lines& lines, const Figures& figures) {
  Chart chart{.title = kind + ": how slow the slow ones are",
              .x_label = "one operation in so many takes longer",
              .y_label = "us",
              .series = {}};
  for (const auto& [line, subjects] : lines) {
    for (const Subject& subject : subjects) {
      Series series{.name = line + ", " + rate_of(subject), .points = {}};
      for (const Percentile& each : kPercentiles) {
        if (const auto value = figures.median(subject, each.name)) series.points.push_back({each.one_in, value->value});
      }
      chart.series.push_back(std::move(series));
    }
  }
  add(plots, kind + "-percentiles", std::move(chart));
}

// ---- failover: each kill is a round

void add_failover(std::vector<Plot>& plots, const Figures& figures) {
  constexpr std::array kOneIn = {2.0, 4.0, 10.0, 20.0, 50.0, 100.0};
  Chart chart{.title = "failover: longest time without a grant after kill -9 of the leader",
              .x_label = "one kill in so many takes longer",
              .y_label = "ms",
              .series = {}};
  for (const Subject& subject : figures.subjects()) {
    if (subject.kind != "failover") continue;
    for (const auto& [figure, name] :
         {std::pair{"election_ms", "until another leads"}, {"longest_gap_ms", "without a grant"}}) {
      Series series{.name = name, .points = {}};
      for (const double one_in : kOneIn) {
        const auto value = figures.quantile(subject, figure, 1 - 1 / one_in);
        if (value && static_cast<double>(value->count) >= one_in) series.points.push_back({one_in, value->value});
      }
      chart.series.push_back(std::move(series));
    }
  }
  add(plots, "failover", std::move(chart));
}

}  // namespace

std::vector<Plot> plots_of(const Figures& figures) {
  std::vector<Plot> plots;
  for (const auto& [kind, lines] : lines_by_kind(figures, false)) add_scaling(plots, kind, lines, figures);
  for (const auto& [kind, lines] : lines_by_kind(figures, true)) {
    add_offered(plots, kind, lines, figures);
    add_percentiles(plots, kind, lines, figures);
  }
  add_failover(plots, figures);
  return plots;
}

}  // namespace coordkit::bench
