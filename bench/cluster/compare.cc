#include "bench/cluster/compare.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/report/figures.h"

namespace coordkit::bench {
namespace {

constexpr std::array kCompared = {"cycles_per_s",
                                  "p50_us",
                                  "p99_us",
                                  "p999_us",
                                  "events_per_s",
                                  "opened_per_s",
                                  "election_ms",
                                  "longest_gap_ms",
                                  "back_s",
                                  "takeover_us",
                                  "machine_bytes_per_session",
                                  "timer_bytes_per_session"};

// Nothing of the machine, the disk, and medians of a run: they are taken here, over all runs.
bool is_measurement(const nlohmann::json& line) {
  const std::string name = line.value("name", "");
  return name.starts_with("coordkit/") && !name.ends_with("/median") && line.value("phase", "") != "median" &&
         !line.contains("first_error");
}

Subject subject_of(const nlohmann::json& line) {
  std::string kind = line.at("name");
  if (line.contains("door")) kind += ", door " + line.at("door").get<std::string>();
  if (line.contains("sessions")) kind += fmt::format(", {} sessions", line.at("sessions").get<uint64_t>());
  return {"coordkit", std::move(kind), "", line.value("callers", uint64_t{0})};
}

Figures lines_of(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw std::runtime_error("cannot read " + name);
  Figures figures;
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text);
    if (!is_measurement(line)) continue;
    for (const char* figure : kCompared) {
      if (!line.contains(figure)) continue;
      figures.add({.of = subject_of(line),
                   .name = figure,
                   .value = line.at(figure).get<double>(),
                   .suspect = line.value("disk_suspect", false)});
    }
  }
  return figures;
}

}  // namespace

std::string compared(const std::string& then_file, const std::string& now_file) {
  const Figures then = lines_of(then_file), now = lines_of(now_file);
  std::string text = fmt::format("{:<44}{:>8} {:>26}{:>12}{:>12}{:>8}\n", "", "callers", "", "then", "now", "ratio");
  for (const Subject& subject : now.subjects()) {
    for (const char* figure : kCompared) {
      const auto before = then.median(subject, figure), after = now.median(subject, figure);
      if (!before || !after) continue;
      text += fmt::format("{:<44}{:>8} {:>26}{:>12.1f}{:>12.1f}{:>8.2f}{}\n", subject.kind, subject.callers, figure,
                          before->value, after->value, before->value == 0 ? 0 : after->value / before->value,
                          before->suspect || after->suspect ? "  disk suspect" : "");
    }
  }
  return text;
}

}  // namespace coordkit::bench
