#include "compare/strikes.h"

#include <algorithm>

#include "sim/plan.h"
#include "sim/world/draw.h"

namespace coordkit::sim::compare {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Spread over orders of magnitude: some short, some several times the TTL.
Duration draw_length(Random& random, Duration ttl) {
  return draw(random, ttl / 40, (ttl / 8) * (int64_t{1} << random.below(6)));
}

void draw_lasting(std::vector<Strike>& strikes, Random& random, const CompareOptions& options, StrikeKind kind,
                  Duration interval) {
  for (uint32_t machine = 0; machine < kMachines; ++machine) {
    Duration at = draw(random, {}, 2 * interval);
    while (at < options.length) {
      const Duration length = draw_length(random, options.ttl);
      strikes.push_back({.at = at, .kind = kind, .machine = machine, .length = length});
      at += length + draw(random, milliseconds(1), 2 * interval);
    }
  }
}

// Half of the rate error that coordkit allows, so that two clocks differ by 1 % at most. Redlock's own allowance is made for
// that. The edges are the interesting rates.
constexpr int64_t kRatePpm = int64_t{kRateErrorPpm} / 2;

void draw_rates(std::vector<Strike>& strikes, Random& random, const CompareOptions& options) {
  for (uint32_t machine = 0; machine <= kService; ++machine) {
    for (Duration at{}; at < options.length; at += draw(random, seconds(1), seconds(10))) {
      const int64_t rate = (static_cast<int64_t>(random.below(3)) - 1) * kRatePpm;
      strikes.push_back({.at = at, .kind = StrikeKind::Rate, .machine = machine, .rate_ppm = rate});
    }
  }
}

// Steps one machine's time of day, or that of all, as when they follow one time source.
void draw_wall_steps(std::vector<Strike>& strikes, Random& random, const CompareOptions& options) {
  for (Duration at = draw(random, {}, seconds(10)); at < options.length; at += draw(random, seconds(1), seconds(10))) {
    const Duration size = draw_length(random, options.ttl);
    const Duration step = random.chance(0.5) ? size : -size;
    const bool all = random.chance(0.3);
    const uint32_t only = static_cast<uint32_t>(random.below(kMachines));
    for (uint32_t machine = 0; machine < kMachines; ++machine) {
      if (all || machine == only) strikes.push_back({.at = at, .kind = StrikeKind::WallStep, .machine = machine, .step = step});
    }
  }
}

// Makes every other machine half as fast again, and the others half as fast.
void draw_wild_rates(std::vector<Strike>& strikes) {
  for (uint32_t machine = 0; machine <= kService; ++machine) {
    strikes.push_back({.kind = StrikeKind::Rate, .machine = machine, .rate_ppm = machine % 2 == 0 ? 500'000 : -500'000});
  }
}

}  // namespace

std::vector<Strike> draw_strikes(const CompareOptions& options, Random random) {
  std::vector<Strike> strikes;
  Random pauses = random.fork(), cuts = random.fork(), rates = random.fork(), steps = random.fork(), stops = random.fork();
  if (options.faults.pauses) draw_lasting(strikes, pauses, options, StrikeKind::Pause, seconds(6));
  if (options.faults.cuts) draw_lasting(strikes, cuts, options, StrikeKind::Cut, seconds(12));
  if (options.faults.drift) draw_rates(strikes, rates, options);
  if (options.faults.wall_steps) draw_wall_steps(strikes, steps, options);
  if (options.faults.stopped_machines) draw_lasting(strikes, stops, options, StrikeKind::StopMachine, seconds(12));
  if (options.faults.wild_rates) draw_wild_rates(strikes);
  std::stable_sort(strikes.begin(), strikes.end(), [](const Strike& a, const Strike& b) { return a.at < b.at; });
  return strikes;
}

}  // namespace coordkit::sim::compare
