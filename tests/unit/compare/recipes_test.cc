// The recipes of examples/13_recipes in the simulated cluster, beside coordkit's own lock under the very same faults: each
// excludes when nothing goes wrong, each fails where docs/recipes.md says, and its number still fences.
#include <gtest/gtest.h>

#include "coordkit/sim/compare.h"
#include "examples/13_recipes/queue_lock.h"
#include "examples/13_recipes/sequential_lock.h"
#include "examples/13_recipes/watchdog_lock.h"

namespace coordkit::sim {
namespace {

using namespace std::chrono_literals;

constexpr CompareFaults kNoFaults{.pauses = false, .cuts = false, .drift = false, .wall_steps = false};
constexpr CompareFaults kPausesOnly{.pauses = true, .cuts = false, .drift = false, .wall_steps = false};
constexpr CompareFaults kCutsOnly{.pauses = false, .cuts = true, .drift = false, .wall_steps = false};

template <typename Lock, auto... kArguments>
std::unique_ptr<LockEnd> make(Process& process, const CompareOptions& options) {
  return std::make_unique<Lock>(process, options.ttl, kArguments...);
}
const LockMaker kQueue = make<example::QueueLock, example::QueueLock::Trust::Messages>;
const LockMaker kQueueByTheClock = make<example::QueueLock, example::QueueLock::Trust::Clock>;
const LockMaker kSequential = make<example::SequentialLock>;
const LockMaker kWatchdog = make<example::WatchdogLock>;

RecipeFigures sum(const LockMaker& recipe, const CompareFaults& faults, uint64_t runs) {
  RecipeFigures figures;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    const OwnRecipe run = compare_own_recipe({.seed = seed, .faults = faults}, recipe);
    EXPECT_EQ(run.violation, "") << "seed " << seed;
    figures.add(run.figures);
  }
  return figures;
}
// A cut that matters is rare.
RecipeFigures until_it_fails(const LockMaker& recipe, const CompareFaults& faults) {
  RecipeFigures figures;
  for (uint64_t seed = 1; seed <= 80 && (figures.overlaps == 0 || figures.lost == 0); ++seed) {
    const OwnRecipe run = compare_own_recipe({.seed = seed, .faults = faults}, recipe);
    EXPECT_EQ(run.violation, "") << "seed " << seed;
    figures.add(run.figures);
  }
  return figures;
}
RecipeFigures native(const CompareFaults& faults, uint64_t runs) {
  RecipeFigures figures;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    figures.add(compare_recipe({.seed = seed, .faults = faults}, Recipe::Coordkit)[Recipe::Coordkit]);
  }
  return figures;
}

TEST(RecipesTest, EachExcludesWhenNothingGoesWrong) {
  for (const LockMaker* recipe : {&kQueue, &kQueueByTheClock, &kSequential, &kWatchdog}) {
    const RecipeFigures figures = sum(*recipe, kNoFaults, 1);
    EXPECT_GT(figures.grants, 25u);
    EXPECT_GT(figures.writes, figures.grants);
    EXPECT_EQ(figures.overlaps, 0u);
    EXPECT_EQ(figures.lost, 0u);
    EXPECT_EQ(figures.fenced_writes, figures.writes) << "its numbers rise with every grant";
  }
}

// Key and lock are gone with the session; the event about it still has to arrive.
TEST(RecipesTest, AQueueOfKeysOverlapsAfterAPauseAndTheClockOfItsSessionMendsThat) {
  const RecipeFigures queue = sum(kQueue, kPausesOnly, 12);
  EXPECT_GT(queue.overlaps, 0u);
  EXPECT_GT(queue.lost, 0u);
  EXPECT_EQ(queue.fenced_lost, 0u);
  const RecipeFigures asked = sum(kQueueByTheClock, kPausesOnly, 12), ours = native(kPausesOnly, 12);
  EXPECT_GT(asked.grants, 200u);
  EXPECT_EQ(asked.overlaps, 0u);
  EXPECT_EQ(ours.overlaps, 0u);
  EXPECT_GT(queue.lost, 4 * (asked.lost + ours.lost));
}

// Its process resumes, and acts before the thread that would have notified it.
TEST(RecipesTest, NumberedKeysStandACutAndLoseUpdatesToPauses) {
  const RecipeFigures cut = sum(kSequential, kCutsOnly, 10);
  EXPECT_GT(cut.grants, 150u);
  EXPECT_EQ(cut.overlaps, 0u);
  const RecipeFigures paused = sum(kSequential, kPausesOnly, 12), ours = native(kPausesOnly, 12);
  EXPECT_GT(paused.lost, 4 * ours.lost) << "only a pause between the check and the write cannot be prevented";
  EXPECT_EQ(paused.fenced_lost, 0u);
  EXPECT_EQ(ours.overlaps, 0u);
}

TEST(RecipesTest, AWatchdogOverlapsAfterPausesAndCuts) {
  for (const CompareFaults& faults : {kPausesOnly, kCutsOnly}) {
    const RecipeFigures figures = until_it_fails(kWatchdog, faults);
    EXPECT_GT(figures.overlaps, 0u);
    EXPECT_GT(figures.lost, 0u);
    EXPECT_EQ(figures.fenced_lost, 0u);
  }
}

TEST(RecipesTest, ASeedRepeatsItsRun) {
  const CompareOptions options{.seed = 7, .length = 10s};
  const uint64_t hash = compare_own_recipe(options, kQueue).hash;
  EXPECT_EQ(compare_own_recipe(options, kQueue).hash, hash);
  EXPECT_NE(compare_own_recipe(options, kWatchdog).hash, hash);
}

}  // namespace
}  // namespace coordkit::sim
