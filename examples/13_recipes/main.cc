// Three locks built on keys, beside coordkit's own, under the same process pauses and network cuts: how often did
// two processes hold the lock at once, and how many updates were lost? docs/recipes.md explains the result.
//
//   13_recipes [RUNS]       virtual minutes for each recipe
#include <cstdio>
#include <cstdlib>

#include "queue_lock.h"
#include "sequential_lock.h"
#include "watchdog_lock.h"

namespace sim = coordkit::sim;
using namespace example;

template <typename Lock, auto... kArguments>
std::unique_ptr<sim::LockEnd> make(sim::Process& process, const sim::CompareOptions& options) {
  return std::make_unique<Lock>(process, options.ttl, kArguments...);
}

int main(int argc, char** argv) {
  const uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4;
  const std::pair<const char*, sim::LockMaker> recipes[] = {
      {"queue of keys", make<QueueLock, QueueLock::Trust::Messages>},
      {"queue of keys, by the clock", make<QueueLock, QueueLock::Trust::Clock>},
      {"numbered keys", make<SequentialLock>},
      {"watch-dog", make<WatchdogLock>},
      {"native", {}}};
  std::printf("%-28s %7s %9s %12s %6s %13s\n", "", "grants", "overlaps", "longest s", "lost", "lost, fenced");
  for (const auto& [name, recipe] : recipes) {
    sim::RecipeFigures sums;
    for (uint64_t seed = 1; seed <= runs; ++seed) {
      const sim::CompareOptions options{.seed = seed};
      const sim::Comparison native = recipe ? sim::Comparison() : compare_recipe(options, sim::Recipe::Coordkit);
      const sim::OwnRecipe own = recipe ? compare_own_recipe(options, recipe)
                                        : sim::OwnRecipe{native[sim::Recipe::Coordkit], native.hash, native.violation};
      if (!own.violation.empty()) return std::fprintf(stderr, "seed %lu: %s\n", seed, own.violation.c_str()), 1;
      sums.add(own.figures);
    }
    const double longest = std::chrono::duration<double>(sums.overlap_longest).count();
    std::printf("%-28s %7lu %9lu %12.3f %6lu %13lu\n", name, sums.grants, sums.overlaps, longest, sums.lost, sums.fenced_lost);
    if (!recipe && sums.overlaps != 0) return 1;
  }
}
