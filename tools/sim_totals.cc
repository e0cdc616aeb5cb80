#include "tools/sim_totals.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace coordkit::tools {
namespace {

using sim::Report;

// Every plain count of a report, under the name it has in the JSON line.
constexpr std::pair<const char*, uint64_t Report::*> kCounts[] = {{"events", &Report::events},
                                                                  {"turns", &Report::turns},
                                                                  {"operations", &Report::operations},
                                                                  {"entries", &Report::entries},
                                                                  {"messages", &Report::messages},
                                                                  {"grants", &Report::grants},
                                                                  {"releases", &Report::releases},
                                                                  {"expiries", &Report::expiries},
                                                                  {"elections", &Report::elections},
                                                                  {"crashes", &Report::crashes},
                                                                  {"installs", &Report::installs},
                                                                  {"histories", &Report::histories},
                                                                  {"histories_undecided", &Report::histories_undecided},
                                                                  {"history_operations", &Report::history_operations}};

double per(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

}  // namespace

void Totals::add(const Report& report) {
  ++runs;
  violations += report.violation.empty() ? 0 : 1;
  virtual_seconds += std::chrono::duration<double>(report.virtual_time).count();
  for (const auto& [name, count] : kCounts) sum.*count += report.*count;
  sum.trace_hash += report.trace_hash;  // a sum: the order of completion does not matter
  for (size_t i = 0; i < sum.faults.size(); ++i) sum.faults[i] += report.faults[i];
  for (size_t i = 0; i < sum.situations.size(); ++i) sum.situations[i] += report.situations[i];
}

nlohmann::ordered_json figures(const Totals& totals, uint64_t seed, const std::string& profile) {
  const Report& sum = totals.sum;
  nlohmann::ordered_json line{{"runs", totals.runs},
                              {"seed", seed},
                              {"profile", profile},
                              {"virtual_seconds", totals.virtual_seconds},
                              {"wall_seconds", totals.wall_seconds},
                              {"cpu_seconds", totals.cpu_seconds},
                              {"events_per_second", per(static_cast<double>(sum.events), totals.wall_seconds)},
                              {"events_per_cpu_second", per(static_cast<double>(sum.events), totals.cpu_seconds)},
                              {"virtual_per_cpu_second", per(totals.virtual_seconds, totals.cpu_seconds)}};
  for (const auto& [name, count] : kCounts) line[name] = sum.*count;
  for (size_t i = 0; i < sum.faults.size(); ++i) {
    line["faults"][std::string(sim::name_of(static_cast<sim::FaultKind>(i)))] = sum.faults[i];
  }
  for (size_t i = 0; i < sum.situations.size(); ++i) {
    line["situations"][std::string(sim::name_of(static_cast<sim::Situation>(i)))] = sum.situations[i];
  }
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016lx", static_cast<unsigned long>(sum.trace_hash));
  line["repeated"] = totals.repeated;
  line["violations"] = totals.violations;
  line["trace_hash"] = hash;
  return line;
}

std::optional<Totals> totals_of(const nlohmann::json& line) try {
  Totals totals{.runs = line.at("runs"),
                .repeated = line.at("repeated"),
                .violations = line.at("violations"),
                .virtual_seconds = line.at("virtual_seconds"),
                .wall_seconds = line.at("wall_seconds"),
                .cpu_seconds = line.at("cpu_seconds")};
  Report& sum = totals.sum;
  for (const auto& [name, count] : kCounts) sum.*count = line.at(name);
  for (size_t i = 0; i < sum.faults.size(); ++i) {
    sum.faults[i] = line.at("faults").at(std::string(sim::name_of(static_cast<sim::FaultKind>(i))));
  }
  for (size_t i = 0; i < sum.situations.size(); ++i) {
    sum.situations[i] = line.at("situations").at(std::string(sim::name_of(static_cast<sim::Situation>(i))));
  }
  sum.trace_hash = std::stoull(line.at("trace_hash").get<std::string>(), nullptr, 16);
  return totals;
} catch (const std::exception&) {  // another version's file, or not ours
  return std::nullopt;
}

}  // namespace coordkit::tools
