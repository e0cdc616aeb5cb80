#include "coordkit/sim/compare.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/sums.h"
#include "compare/embedded.h"
#include "compare/ephemerals.h"
#include "compare/lease_keys.h"
#include "compare/redlock.h"
#include "compare/scene.h"
#include "compare/work.h"

namespace coordkit::sim {
namespace {

using namespace compare;

constexpr std::array<std::string_view, kRecipes> kNames = {"lease keys", "ephemeral nodes", "redlock", "coordkit"};

using ModelMaker = std::function<std::unique_ptr<LockEnd>(uint32_t machine)>;

void run_model(const CompareOptions& options, Scene& scene, const ModelMaker& make, RecipeFigures& figures) {
  SharedCounter counter;
  OverlapWatch watch;
  std::vector<std::unique_ptr<LockEnd>> locks;
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t machine = 0; machine < kMachines; ++machine) {
    locks.push_back(make(machine));
    workers.push_back(std::make_unique<Worker>(scene.process(machine), *locks.back(), counter));
    workers.back()->begin();
  }
  scene.run(options.length, [&] {
    size_t acting = 0;
    for (uint32_t machine = 0; machine < kMachines; ++machine) {
      acting += !scene.frozen(machine) && locks[machine]->holds() ? 1 : 0;
    }
    watch.look(acting);
  });
  counter.fill(figures);
  watch.fill(figures);
  for (const auto& worker : workers) figures.grants += worker->grants();
}

void run_recipe(const CompareOptions& options, const std::vector<Strike>& strikes, Recipe recipe, Comparison& comparison) {
  if (recipe == Recipe::Coordkit) {
    OwnRecipe ours = run_embedded(options, strikes, native_lock);
    comparison.of[static_cast<size_t>(recipe)] = ours.figures;
    comparison.hash = hash_mix(comparison.hash, ours.hash);
    comparison.violation = std::move(ours.violation);
    return;
  }
  Scene scene(options.seed, strikes);
  RecipeFigures& figures = comparison.of[static_cast<size_t>(recipe)];
  if (recipe == Recipe::LeaseKeys) {
    LeaseStore store(scene, options.ttl);
    run_model(
        options, scene, [&](uint32_t machine) { return std::make_unique<LeaseKeyLock>(scene, store, machine); }, figures);
  } else if (recipe == Recipe::Ephemerals) {
    Ensemble ensemble(scene, options.ttl);
    run_model(
        options, scene, [&](uint32_t machine) { return std::make_unique<EphemeralLock>(scene, ensemble, machine); }, figures);
  } else {
    std::vector<RedisNode> nodes;
    for (uint32_t machine = 0; machine < kMachines; ++machine) nodes.emplace_back(scene, machine);
    run_model(
        options, scene, [&](uint32_t machine) { return std::make_unique<Redlock>(scene, nodes, options.ttl, machine); },
        figures);
  }
  comparison.hash = hash_mix(comparison.hash, scene.hash());
}

}  // namespace

std::string_view name_of(Recipe recipe) { return kNames[static_cast<size_t>(recipe)]; }

void RecipeFigures::add(const RecipeFigures& other) {
  grants += other.grants;
  writes += other.writes;
  overlaps += other.overlaps;
  overlapped += other.overlapped;
  overlap_longest = std::max(overlap_longest, other.overlap_longest);
  lost += other.lost;
  fenced_writes += other.fenced_writes;
  fenced_lost += other.fenced_lost;
  fence |= other.fence;
}

Comparison compare_recipe(const CompareOptions& options, Recipe recipe) {
  Comparison comparison;
  run_recipe(options, draw_strikes(options, Random(options.seed)), recipe, comparison);
  return comparison;
}

OwnRecipe compare_own_recipe(const CompareOptions& options, const LockMaker& make) {
  return run_embedded(options, draw_strikes(options, Random(options.seed)), make);
}

Comparison compare_recipes(const CompareOptions& options) {
  const std::vector<Strike> strikes = draw_strikes(options, Random(options.seed));
  Comparison comparison;
  for (const Recipe recipe : kAllRecipes) run_recipe(options, strikes, recipe, comparison);
  return comparison;
}

}  // namespace coordkit::sim
