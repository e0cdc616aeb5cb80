// The models of the comparison: each keeps its promise when nothing goes wrong, and fails where it is known to fail. Beside
// them coordkit, which does not fail.
#include "coordkit/sim/compare.h"

#include <gtest/gtest.h>

#include "compare/strikes.h"

namespace coordkit::sim {
namespace {

using namespace std::chrono_literals;

constexpr CompareFaults kNone{.pauses = false, .cuts = false, .drift = false, .wall_steps = false};
constexpr CompareFaults kPauses{.pauses = true, .cuts = false, .drift = false, .wall_steps = false};
constexpr CompareFaults kCuts{.pauses = false, .cuts = true, .drift = false, .wall_steps = false};
constexpr CompareFaults kDrift{.pauses = false, .cuts = false, .drift = true, .wall_steps = false};
constexpr CompareFaults kWallSteps{.pauses = false, .cuts = false, .drift = false, .wall_steps = true};

RecipeFigures sum(Recipe recipe, const CompareFaults& faults, uint64_t runs, Duration length = 60s) {
  RecipeFigures figures;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    const Comparison result = compare_recipe({.seed = seed, .length = length, .faults = faults}, recipe);
    EXPECT_EQ(result.violation, "");
    figures.add(result[recipe]);
  }
  return figures;
}

TEST(CompareTest, EachRecipeExcludesWhenNothingGoesWrong) {
  for (const Recipe recipe : kAllRecipes) {
    const RecipeFigures figures = sum(recipe, kNone, 2);
    EXPECT_GT(figures.grants, 50u) << name_of(recipe);
    EXPECT_GT(figures.writes, figures.grants) << name_of(recipe);
    EXPECT_EQ(figures.overlaps, 0u) << name_of(recipe);
    EXPECT_EQ(figures.lost, 0u) << name_of(recipe);
    EXPECT_EQ(figures.fenced_lost, 0u) << name_of(recipe);
    EXPECT_EQ(figures.fence, recipe != Recipe::Redlock) << name_of(recipe);
    EXPECT_EQ(figures.fenced_writes, figures.fence ? figures.writes : 0) << name_of(recipe);
  }
}

TEST(CompareTest, DriftWithinTheBoundAloneBreaksNone) {
  for (const Recipe recipe : kAllRecipes) {
    const RecipeFigures figures = sum(recipe, kDrift, recipe == Recipe::Coordkit ? 2 : 40);
    EXPECT_EQ(figures.overlaps, 0u) << name_of(recipe);
    EXPECT_EQ(figures.lost, 0u) << name_of(recipe);
  }
}

// The client counts its lease from the answer and checks once a second; the store counts from the question.
TEST(CompareTest, LeaseKeysOverlapWhenAHolderIsCutOff) {
  const RecipeFigures figures = sum(Recipe::LeaseKeys, kCuts, 30);
  EXPECT_GT(figures.overlaps, 0u);
  EXPECT_GT(figures.lost, 0u);
}

TEST(CompareTest, LeaseKeysLoseUpdatesToPausesUnlessTheRevisionFences) {
  const RecipeFigures figures = sum(Recipe::LeaseKeys, kPauses, 30);
  EXPECT_GT(figures.lost, 0u);
  EXPECT_EQ(figures.fenced_lost, 0u);
}

// The client gives up a third of the timeout earlier than the ensemble, so a partition alone does no harm.
TEST(CompareTest, EphemeralsStandACutOffHolder) {
  const RecipeFigures figures = sum(Recipe::Ephemerals, kCuts, 30);
  EXPECT_GT(figures.grants, 1000u);
  EXPECT_EQ(figures.overlaps, 0u);
}

// The process that resumes after a pause holds until another thread has noticed.
TEST(CompareTest, EphemeralsOverlapAfterAPause) {
  const RecipeFigures figures = sum(Recipe::Ephemerals, kPauses, 60);
  EXPECT_GT(figures.overlaps, 0u);
  EXPECT_GT(figures.lost, 0u);
  EXPECT_EQ(figures.fenced_lost, 0u);
}

TEST(CompareTest, RedlockStandsPartitionsAndLosesToStepsOfTheTimeOfDay) {
  EXPECT_EQ(sum(Recipe::Redlock, kCuts, 30).overlaps, 0u);
  EXPECT_GT(sum(Recipe::Redlock, kWallSteps, 30).overlaps, 0u);
}

// It knows its time is up when it checks; the write after the check is what is lost, and nothing can refuse it.
TEST(CompareTest, RedlockLosesUpdatesToPausesAndHasNoFence) {
  const RecipeFigures figures = sum(Recipe::Redlock, kPauses, 60);
  EXPECT_GT(figures.lost, 0u);
  EXPECT_FALSE(figures.fence);
}

// Covers: INV_L02
TEST(CompareTest, CoordkitNeitherOverlapsNorLosesAFencedUpdate) {
  const RecipeFigures figures = sum(Recipe::Coordkit, {}, 5, 30s);
  EXPECT_GT(figures.grants, 50u);
  EXPECT_EQ(figures.overlaps, 0u);
  EXPECT_EQ(figures.fenced_lost, 0u);
  EXPECT_TRUE(figures.fence);
}

// No clock can notice this: the machine believes that no time has passed, and writes. Its token reveals it.
// Covers: FLT_P04 INV_L14
TEST(CompareTest, AStoppedMachineOverlapsAndTheFenceHolds) {
  CompareFaults faults = kNone;
  faults.stopped_machines = true;
  const RecipeFigures figures = sum(Recipe::Coordkit, faults, 20);
  EXPECT_GT(figures.overlaps, 0u) << "or the test shows nothing";
  EXPECT_GT(figures.lost, 0u);
  EXPECT_EQ(figures.fenced_lost, 0u);
  EXPECT_GT(figures.fenced_writes, 1000u);
}

// Covers: FLT_P07 REG_F79 INV_L14
TEST(CompareTest, BeyondTheBoundOfRatesTheFenceHolds) {
  CompareFaults faults = kCuts;
  faults.wild_rates = true;
  const RecipeFigures figures = sum(Recipe::Coordkit, faults, 20);
  EXPECT_GT(figures.overlaps, 0u) << "or the test shows nothing";
  EXPECT_EQ(figures.fenced_lost, 0u);
  EXPECT_GT(figures.fenced_writes, 1000u);
}

TEST(CompareTest, ASeedRepeatsItsRun) {
  const CompareOptions options{.seed = 7, .length = 10s};
  const uint64_t hash = compare_recipes(options).hash;
  EXPECT_EQ(compare_recipes(options).hash, hash);
  EXPECT_NE(compare_recipes({.seed = 8, .length = 10s}).hash, hash);
}

TEST(CompareTest, StrikesOfOneKindDoNotOverlapOnAMachine) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    std::map<std::pair<compare::StrikeKind, uint32_t>, Duration> until;
    for (const compare::Strike& strike : compare::draw_strikes({.seed = seed}, Random(seed))) {
      Duration& before = until[{strike.kind, strike.machine}];
      ASSERT_TRUE(strike.length == Duration() || strike.at > before);
      before = strike.at + strike.length;
    }
  }
}

TEST(CompareTest, ThePictureShowsEveryRecipeAndNeedsNothingElse) {
  Comparison sums;
  sums.of[0].overlaps = 12;
  const std::string picture = comparison_picture(sums, 60, 60s);
  EXPECT_TRUE(picture.starts_with("<svg"));
  for (const Recipe recipe : kAllRecipes) EXPECT_NE(picture.find(name_of(recipe)), std::string::npos);
  EXPECT_NE(picture.find(">12, "), std::string::npos) << "twelve in one hour";
  EXPECT_EQ(picture.find("href"), std::string::npos);
}

}  // namespace
}  // namespace coordkit::sim
