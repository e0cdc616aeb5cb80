#include "sim/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

// "1-3,7"
std::string text_of(const std::set<uint64_t>& ordinals) {
  if (ordinals.empty()) return "none";
  std::string text;
  for (auto it = ordinals.begin(); it != ordinals.end();) {
    const uint64_t first = *it;
    uint64_t last = first;
    for (++it; it != ordinals.end() && *it == last + 1; ++it) last = *it;
    if (!text.empty()) text += ",";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

// Exact, and short where it can be.
std::string seconds_text(Duration duration) {
  std::string text = fmt::format("{}.{:09}", duration.count() / 1'000'000'000, duration.count() % 1'000'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string joined(const std::set<FaultKind>& kinds) {
  std::string text;
  for (FaultKind kind : kinds) text += (text.empty() ? "" : ",") + std::string(name_of(kind));
  return text;
}

}  // namespace

std::string reduce(const Reduction& reduction, Plan& plan) {
  if (reduction.nodes && (*reduction.nodes == 0 || *reduction.nodes > plan.nodes)) {
    return fmt::format("this seed has {} nodes: --nodes takes 1 to {}", plan.nodes, plan.nodes);
  }
  if (reduction.workers && (*reduction.workers == 0 || *reduction.workers > plan.work.workers_per_node)) {
    return fmt::format("this seed has {} workers per node: --workers takes 1 to {}", plan.work.workers_per_node,
                       plan.work.workers_per_node);
  }
  if (reduction.hostile && *reduction.hostile < Duration::zero()) return "--hostile is a length of time, not below zero";
  if (reduction.hostile) plan.hostile = *reduction.hostile;
  if (reduction.nodes) {
    plan.nodes = *reduction.nodes;
    plan.founders = std::min(plan.founders, plan.nodes);
    plan.clock_ppm.resize(plan.nodes);
    std::erase_if(plan.first_start.wrong, [&plan](const auto& one) { return one.node >= plan.nodes; });
    std::erase_if(plan.first_start.restarts, [&plan](const auto& one) { return one.node >= plan.nodes; });
  }
  if (reduction.workers) plan.work.workers_per_node = *reduction.workers;
  return {};
}

std::string replay_arguments(const SimOptions& options) {
  std::string text = fmt::format("--replay {}", options.seed);
  if (options.profile != SimOptions().profile) text += " --profile " + options.profile;
  if (options.hostile_time != SimOptions().hostile_time) text += " --seconds " + seconds_text(options.hostile_time);
  for (std::string_view defect : planted(options.defects)) text += fmt::format(" --defect {}", defect);
  const Reduction& less = options.reduction;
  if (less.hostile) text += " --hostile " + seconds_text(*less.hostile);
  if (!less.without.empty()) text += " --without " + joined(less.without);
  if (less.faults) text += " --faults " + text_of(*less.faults);
  if (less.nodes) text += fmt::format(" --nodes {}", *less.nodes);
  if (less.workers) text += fmt::format(" --workers {}", *less.workers);
  return text;
}

}  // namespace coordkit::sim
