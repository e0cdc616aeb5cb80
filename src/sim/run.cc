// One seed from its plan to its report.
#include <fmt/format.h>

#include "base/check.h"
#include "coordkit/sim/options.h"
#include "sim/cluster.h"
#include "sim/plan.h"
#include "sim/violation.h"
#include "sim/world.h"

namespace coordkit::sim {
namespace {

constexpr uint32_t kNodesMax = 9;

// Clocks beyond the bound that the protocol assumes, as a planted defect.
void distort_clocks(const Defects& defects, Plan& plan) {
  if (!defects.clocks_beyond_bound) return;
  for (size_t node = 0; node < plan.clock_ppm.size(); ++node) plan.clock_ppm[node] = node % 2 == 0 ? 500'000 : -500'000;
}

void conduct(Cluster& cluster, Report& report) try { cluster.run(); } catch (const Violation& violation) {
  report.violation = violation.id();
  report.what = violation.what();
} catch (const CheckFailure& failure) {
  report.violation = "CHECK";
  report.what = failure.what();
}

}  // namespace

Report simulate(const SimOptions& options) {
  Report report;
  report.seed = options.seed;
  World world(options.seed);
  world.set_listener(options.on_event);
  Plan plan;
  if (!draw_plan(options, world.fork_random(), plan)) {
    report.violation = "OPTIONS";
    report.what = "there is no profile named " + options.profile;
    return report;
  }
  if (options.nodes > kNodesMax) {
    report.violation = "OPTIONS";
    report.what = fmt::format("{} nodes: a simulated cluster has 1 to {}", options.nodes, kNodesMax);
    return report;
  }
  distort_clocks(options.defects, plan);
  {
    Cluster cluster(world, plan, options);
    conduct(cluster, report);
    cluster.fill(report);
  }
  if (!report.violation.empty()) report.last_events = world.last_events();
  return report;
}

}  // namespace coordkit::sim
