// Small scopes of the consensus core, visited exhaustively (tools/explore). The larger ones run by hand: ./dev explore --list.
#include <gtest/gtest.h>

#include "explore/initialization.h"
#include "explore/narrate.h"
#include "explore/search.h"

namespace coordkit::explore {
namespace {

Scope scope(std::string_view name, Defect defect = Defect::None) {
  Scope scope = *scope_named(name);
  scope.defect = defect;
  return scope;
}

Findings visit(const Scope& scope) {
  Space space(scope);
  return search(space, {});
}

// Covers: INV_R01 INV_R02 INV_R03 INV_R04 INV_R05 INV_R06 INV_R07 INV_R08 INV_R09 INV_R10 INV_R17 INV_R18
TEST(ExploreTest, TwoCampaignsAndACommandAreSafeHoweverTheyInterleave) {
  const Findings found = visit(scope("tiny"));
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_EQ(found.leaders_most, 2u);
  EXPECT_EQ(found.committed_most, 4u) << "the genesis, two leaders' first entries, the command";
  EXPECT_GT(found.states, 100'000u);
}

// Covers: INV_R01 INV_R02 INV_R06 INV_R08
TEST(ExploreTest, ACrashAnywhereAmongTwoCampaignsIsSafe) {
  const Findings found = visit(scope("tiny-crash"));
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_EQ(found.leaders_most, 2u);
}

TEST(ExploreTest, TwoCampaignsWithRealPreVotesAreSafe) {
  const Findings found = visit(scope("prevotes"));
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_EQ(found.leaders_most, 2u);
}

TEST(ExploreTest, AVoteForgottenInACrashIsFound) {
  EXPECT_TRUE(visit(scope("tiny-crash", Defect::ForgetsVote)).violation.starts_with("INV_R02"));
}

// Covers: REG_R01
TEST(ExploreTest, AnEntryOfAnEarlierTermCommittedByCountingIsFound) {
  EXPECT_TRUE(visit(scope("tiny", Defect::CountsOlderTerms)).violation.starts_with("INV_R09"));
}

TEST(ExploreTest, AMessageThatDoesNotWaitForTheDiskIsFound) {
  EXPECT_TRUE(visit(scope("tiny", Defect::SendsAtOnce)).violation.starts_with("INV_R17"));
}

TEST(ExploreTest, AViolationIsToldByATraceThatLeadsThereAgain) {
  const Scope broken = scope("tiny-crash", Defect::ForgetsVote);
  Space space(broken);
  const Findings found = search(space, {});
  ASSERT_FALSE(found.trace.empty());
  World world = space.first();
  std::vector<Move> possible;
  for (size_t i = 0; i + 1 < found.trace.size(); ++i) {
    space.moves(world, possible);
    const auto same = [&](const Move& move) { return word_of(space, move) == word_of(space, found.trace[i]); };
    EXPECT_EQ(std::count_if(possible.begin(), possible.end(), same), 1) << word_of(space, found.trace[i]);
    EXPECT_EQ(space.make(world, found.trace[i]), "");
  }
  EXPECT_EQ(space.make(world, found.trace.back()), found.violation);
}

InitializationFindings visit_initialization(std::string_view name, InitializationDefect defect = InitializationDefect::None) {
  InitializationScope scope = *initialization_scope_named(name);
  scope.defect = defect;
  return search_initializations(scope);
}

// Covers: INV_R04
TEST(ExploreInitializationTest, ACrashAnywhereLeavesOneGenesisAndEverybodyBelongs) {
  const InitializationFindings found = visit_initialization("initialization");
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_EQ(found.torn, 0u);
  EXPECT_GT(found.born, 100'000u);
}

// Covers: INV_R04
TEST(ExploreInitializationTest, ADiskThatIsExchangedLeavesOneClusterThatAnswers) {
  const InitializationFindings found = visit_initialization("initialization-wiped");
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_GT(found.torn, 0u) << "a genesis that no replica uses";
}

TEST(ExploreInitializationTest, ADiskThatReportsTooEarlyIsFound) {
  const InitializationFindings found = visit_initialization("initialization", InitializationDefect::ReportsEarly);
  EXPECT_TRUE(found.violation.starts_with("INV_R04")) << found.violation;
  InitializationScope scope = *initialization_scope_named("initialization");
  scope.defect = InitializationDefect::ReportsEarly;
  EXPECT_EQ(tell_initialization(scope, found.trace), found.violation);
}

TEST(ExploreInitializationTest, AMemberWhoseGreetingSoundsBlankIsFound) {
  EXPECT_TRUE(
      visit_initialization("initialization-wiped", InitializationDefect::GreetsAsBlank).violation.starts_with("INV_R04"));
}

class DifferingListsTest : public testing::TestWithParam<const char*> {};

// Covers: INV_R04 FLT_A19
TEST_P(DifferingListsTest, OnceListsAreCorrectedEverybodyBelongsToTheOneClusterThatMayHaveAnswered) {
  const InitializationFindings found = visit_initialization(GetParam());
  EXPECT_TRUE(found.complete) << found.violation << "\n" << found.trace;
  EXPECT_GT(found.born, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, DifferingListsTest,
                         testing::Values("lists", "lists-swapped", "lists-founded", "lists-founded-swapped"));

TEST(DifferingListsCheckTest, AGenesisThatNeverGivesWayIsFound) {
  EXPECT_TRUE(visit_initialization("lists-founded", InitializationDefect::NeverGivesWay).violation.starts_with("INV_R04"));
}

class TwinsTest : public testing::TestWithParam<const char*> {};

TEST_P(TwinsTest, ReplicasWithEqualFingerprintsAnswerEqually) {
  Space space(scope(GetParam()));
  space.compare_twins();
  const Findings found = search(space, {});
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_GT(space.twins(), 20u);
}

INSTANTIATE_TEST_SUITE_P(All, TwinsTest, testing::Values("tiny", "tiny-crash", "prevotes"));

TEST(TwinsCheckTest, AFingerprintThatLeavesSomethingOutIsFound) {
  Space space(scope("prevotes", Defect::ComparesTooLittle));
  space.compare_twins();
  EXPECT_TRUE(search(space, {}).violation.starts_with("TWINS"));
}

}  // namespace
}  // namespace coordkit::explore
