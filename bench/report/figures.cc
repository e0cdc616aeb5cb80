#include "bench/report/figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>

namespace coordkit::bench {
namespace {

constexpr std::string_view kHead = "who,kind,where,callers,due_per_s,round,figure,value,suspect,not_measured";
constexpr size_t kColumns = 10;

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';  // a row is a line
      continue;
    }
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string number(double value) {
  std::string digits(32, '\0');
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  digits.resize(static_cast<size_t>(written.ptr - digits.data()));
  return digits;
}

std::string head_of(const Subject& of) {
  return quoted(of.who) + ',' + quoted(of.kind) + ',' + quoted(of.where) + ',' + std::to_string(of.callers) + ',' +
         number(of.due_per_s) + ',';
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool inside = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && inside && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (line[i] == '"') {
      inside = !inside;
    } else if (line[i] == ',' && !inside) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

template <typename Number>
Number read(const std::string& digits, std::string_view line) {
  Number value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size()) return value;
  throw std::runtime_error("not a row of figures: " + std::string(line));
}

}  // namespace

double quantile_of(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
}

void Figures::add(const Figures& later) {
  uint32_t rounds = 0;
  for (const Figure& figure : all_) rounds = std::max(rounds, figure.round);
  for (Figure figure : later.all_) {
    figure.round += rounds;
    all_.push_back(std::move(figure));
  }
  for (const auto& [of, reason] : later.reasons_) reasons_.insert_or_assign(of, reason);
}

std::optional<Figures::Summary> Figures::quantile(const Subject& of, std::string_view name, double q) const {
  std::vector<double> good, suspect;
  for (const Figure& figure : all_) {
    if (figure.of == of && figure.name == name) (figure.suspect ? suspect : good).push_back(figure.value);
  }
  const std::vector<double>& chosen = good.empty() ? suspect : good;
  if (chosen.empty()) return std::nullopt;
  return Summary{.value = quantile_of(chosen, q), .count = chosen.size(), .suspect = good.empty()};
}

std::optional<double> Figures::median_ratio(const Subject& of, const Subject& to, std::string_view name) const {
  std::map<uint32_t, double> above, below;
  for (const Figure& figure : all_) {
    if (figure.suspect || figure.name != name) continue;
    if (figure.of == of) above[figure.round] = figure.value;
    if (figure.of == to) below[figure.round] = figure.value;
  }
  std::vector<double> ratios;
  for (const auto& [round, value] : above) {
    if (const auto other = below.find(round); other != below.end() && other->second > 0)
      ratios.push_back(value / other->second);
  }
  if (ratios.empty()) return std::nullopt;
  return quantile_of(std::move(ratios), 0.5);
}

std::string Figures::reason(const Subject& of) const {
  const auto found = reasons_.find(of);
  return found == reasons_.end() ? "" : found->second;
}

std::vector<Subject> Figures::subjects() const {
  std::set<Subject> all;
  for (const Figure& figure : all_) all.insert(figure.of);
  return {all.begin(), all.end()};
}

std::string Figures::csv() const {
  std::string out = std::string(kHead) + '\n';
  for (const Figure& figure : all_) {
    out += head_of(figure.of) + std::to_string(figure.round) + ',' + quoted(figure.name) + ',' + number(figure.value) + ',' +
           (figure.suspect ? "1" : "0") + ",\n";
  }
  for (const auto& [of, reason] : reasons_) out += head_of(of) + ",,,," + quoted(reason) + '\n';
  return out;
}

Figures Figures::from_csv(std::string_view text) {
  if (!text.starts_with(kHead)) {
    throw std::runtime_error("the first line is \"" + std::string(text.substr(0, text.find('\n'))) +
                             "\", and figures begin with \"" + std::string(kHead) +
                             "\": another build's benchmark wrote them, or none; measure again");
  }
  Figures figures;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line == kHead) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != kColumns) throw std::runtime_error("not a row of figures: " + std::string(line));
    Subject of{cells[0], cells[1], cells[2], read<uint64_t>(cells[3], line), read<double>(cells[4], line)};
    if (cells[6].empty()) {
      figures.not_measured(std::move(of), cells[9]);
      continue;
    }
    figures.add({.of = std::move(of),
                 .round = read<uint32_t>(cells[5], line),
                 .name = cells[6],
                 .value = read<double>(cells[7], line),
                 .suspect = cells[8] == "1"});
  }
  return figures;
}

}  // namespace coordkit::bench
