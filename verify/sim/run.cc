// One seed from its plan to its report.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "coordkit/sim/sim_options.h"
#include "sim/histories/histories.h"
#include "sim/nodes/cluster.h"
#include "sim/oracle/violation.h"
#include "sim/plan.h"
#include "sim/record/recorder.h"
#include "sim/reduce.h"
#include "sim/world/world.h"

namespace coordkit::sim {
namespace {

constexpr uint32_t kNodesMax = 9;

// Clocks beyond the bound that the protocol assumes, as a planted defect.
void distort_clocks(const Defects& defects, Plan& plan) {
  if (!defects.clocks_beyond_bound) return;
  for (size_t node = 0; node < plan.clock_ppm.size(); ++node) plan.clock_ppm[node] = node % 2 == 0 ? 500'000 : -500'000;
}

void violated(const World& world, Report& report, std::string id, const std::string& what, const Culprit& culprit) {
  report.violation = std::move(id);
  report.what = what;
  if (world.recorder()) world.recorder()->violated(report.violation, what, culprit);
}

template <typename Run>
void conduct(Run& run, const World& world, Report& report) try {
  run.run();
} catch (const Violation& violation) {
  violated(world, report, violation.id(), violation.what(), violation.culprit());
} catch (const CheckFailure& failure) {
  violated(world, report, "CHECK", failure.what(), {});
}

// The facts that every run has, whatever cluster it was of.
void outline(const World& world, const Plan& plan, Report& report) {
  report.nodes = plan.nodes;
  report.workers = plan.work.workers_per_node;
  report.hostile = plan.hostile;
  report.virtual_time = world.now().time_since_epoch();
  report.events = world.events();
  report.trace_hash = world.trace_hash();
}

// The head of the page.
void describe(const SimOptions& options, const Report& report, Timeline& timeline) {
  timeline.title = fmt::format("seed {}, profile {}", options.seed, options.profile);
  timeline.command = "./dev sim " + replay_arguments(options);
  const double lasted = std::chrono::duration<double>(report.virtual_time).count();
  timeline.facts = {{"virtual time", fmt::format("{:.3f} s", lasted)},        {"events", fmt::format("{}", report.events)},
                    {"operations", fmt::format("{}", report.operations)},     {"entries", fmt::format("{}", report.entries)},
                    {"messages", fmt::format("{}", report.messages)},         {"grants", fmt::format("{}", report.grants)},
                    {"elections", fmt::format("{}", report.elections)},       {"crashes", fmt::format("{}", report.crashes)},
                    {"trace hash", fmt::format("{:016x}", report.trace_hash)}};
  for (std::string_view defect : planted(options.defects)) timeline.facts.emplace_back("planted defect", defect);
}

// By the rules of the engine that will use them.
std::string check_sizes(const SimSizes& sizes) {
  EngineOptions options;
  options.raft.self = ReplicaId(1);
  options.new_cluster = ClusterId(1);
  options.members = {{ReplicaId(1), "node-1"}};
  if (sizes.checkpoint_entries) options.checkpoint_entries = *sizes.checkpoint_entries;
  if (sizes.log_retained_bytes) options.raft.log_retained_bytes = *sizes.log_retained_bytes;
  if (sizes.state_chunk_bytes) options.state_chunk_bytes = *sizes.state_chunk_bytes;
  return std::string(options.validate().message());
}

// A sentence if there is no such run.
std::string prepare(const SimOptions& options, World& world, Plan& plan) {
  if (!draw_plan(options, world.fork_random(), plan)) return "there is no profile named " + options.profile;
  if (options.nodes > kNodesMax) {
    return fmt::format("{} nodes: a simulated cluster has 1 to {}", options.nodes, kNodesMax);
  }
  if (options.founders > plan.nodes) {
    return fmt::format("{} founders of {} replicas: some of the replicas found the cluster", options.founders, plan.nodes);
  }
  if (std::string why = check_sizes(options.sizes); !why.empty()) return why;
  return reduce(options.reduction, plan);
}

}  // namespace

Report simulate(const SimOptions& options) {
  Report report;
  report.seed = options.seed;
  World world(options.seed);
  world.set_listener(options.on_event);
  Plan plan;
  if (std::string why = prepare(options, world, plan); !why.empty()) {
    report.violation = "OPTIONS";
    report.what = std::move(why);
    return report;
  }
  std::optional<Recorder> recorder;
  if (options.timeline)
    world.set_recorder(&recorder.emplace(*options.timeline, world, std::max(plan.places(), plan.callers())));
  distort_clocks(options.defects, plan);
  const auto make = [&](auto& cluster) {
    conduct(cluster, world, report);
    outline(world, plan, report);
    cluster.fill(report);
    world.set_recorder(nullptr);  // what dying clients report is not part of the run
  };
  if (plan.histories) {
    Histories cluster(world, plan, options);
    make(cluster);
  } else {
    Cluster cluster(world, plan, options);
    make(cluster);
  }
  if (recorder) {
    recorder->finish();
    describe(options, report, *options.timeline);
  }
  if (!report.violation.empty()) report.last_events = world.last_events();
  return report;
}

}  // namespace coordkit::sim
