#include "bench/report/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace coordkit::bench {
namespace {

bool reaches(const Target& target, double judged, double bound) {
  return target.better == Better::More ? judged >= bound : judged <= bound;
}

Verdict verdict_of(const Target& target, double judged) {
  if (reaches(target, judged, target.aim)) return Verdict::Aim;
  return reaches(target, judged, target.floor) ? Verdict::Floor : Verdict::Below;
}

std::string missing(const Figures& figures, const Subject& of) {
  const std::string reason = figures.reason(of);
  return of.who + ": " + (reason.empty() ? "not in this run" : reason);
}

// Three digits that count, and all of those before the point.
std::string short_number(double value) {
  const int behind = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", behind, value);
  return text.data();
}

std::string with_unit(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  return short_number(*value) + (unit.starts_with("/") ? "" : " ") + unit;
}

std::string bound(const Target& target, double value) {
  return target.against ? short_number(value) + "x" : with_unit(value, target.unit);
}

using Cells = std::array<std::string, 7>;

Cells cells_of(const Row& row) {
  const Target& target = row.target;
  std::string verdict(name_of(row.verdict));
  if (row.verdict == Verdict::NotMeasured) verdict += ": " + row.reason;
  if (row.suspect) verdict += " (disk suspect)";
  const bool in_proportion = target.against.has_value();
  return {target.name,
          with_unit(row.figure, target.unit),
          in_proportion ? with_unit(row.other, target.unit) : "",
          in_proportion && row.judged ? short_number(*row.judged) + "x" : "",
          bound(target, target.floor),
          bound(target, target.aim),
          verdict};
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::NotMeasured: return "not measured";
    case Verdict::Below: return "below";
    case Verdict::Floor: return "floor";
    case Verdict::Aim: return "aim";
  }
  return "";
}

Row judge(const Target& target, const Figures& figures) {
  Row row{.target = target};
  const auto look = [&](const Quantity& quantity) { return figures.quantile(quantity.of, quantity.figure, quantity.quantile); };
  const auto figure = look(target.ours);
  if (figure) row.figure = figure->value;
  if (!figure) row.reason = missing(figures, target.ours.of);
  if (figure) row.suspect = figure->suspect;
  if (target.against) {
    const auto other = look(*target.against);
    if (other) row.other = other->value;
    if (other) row.suspect = row.suspect || other->suspect;
    if (figure && !other) row.reason = missing(figures, target.against->of);
    row.judged = figures.median_ratio(target.ours.of, target.against->of, target.ours.figure);
    if (!row.judged && figure && other && other->value > 0) row.judged = figure->value / other->value;
  } else {
    row.judged = row.figure;
  }
  if (row.judged) row.verdict = verdict_of(target, *row.judged);
  return row;
}

std::string text_of(const std::vector<Row>& rows) {
  std::vector<Cells> lines = {{"", "figure", "against", "ratio", "floor", "aim", "verdict"}};
  for (const Row& row : rows) lines.push_back(cells_of(row));
  std::array<size_t, std::tuple_size_v<Cells>> widths{};
  for (const Cells& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Cells& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      const std::string space(widths[i] - line[i].size(), ' ');
      text += i == 0 ? line[i] + space : space + line[i];
      text += "  ";
    }
    text += line.back() + "\n";
  }
  return text;
}

}  // namespace coordkit::bench
