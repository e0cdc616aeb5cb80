// Small scopes of the consensus core, visited exhaustively (tools/explore). The larger ones run by hand: ./dev explore --list.
#include <gtest/gtest.h>

#include "explore/birth.h"
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

TEST(ExploreTest, INV_R01_R02_R03_R04_R05_R06_R07_R08_R09_R10_R17_R18_TwoCampaignsAndACommandAreSafeHoweverTheyInterleave) {
  const Findings found = visit(scope("tiny"));
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_EQ(found.leaders_most, 2u);
  EXPECT_EQ(found.committed_most, 4u) << "the genesis, two leaders' first entries, the command";
  EXPECT_GT(found.states, 100'000u);
}

TEST(ExploreTest, INV_R01_R02_R06_R08_ACrashAnywhereAmongTwoCampaignsIsSafe) {
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

TEST(ExploreTest, REG_R01_AnEntryOfAnEarlierTermCommittedByCountingIsFound) {
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

BirthFindings visit_birth(std::string_view name, BirthDefect defect = BirthDefect::None) {
  BirthScope scope = *birth_scope_named(name);
  scope.defect = defect;
  return search_births(scope);
}

TEST(ExploreBirthTest, INV_R04_ACrashAnywhereLeavesOneGenesisAndEverybodyBelongs) {
  const BirthFindings found = visit_birth("birth");
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_EQ(found.torn, 0u);
  EXPECT_GT(found.born, 100'000u);
}

TEST(ExploreBirthTest, INV_R04_ADiskThatIsExchangedLeavesOneClusterThatAnswers) {
  const BirthFindings found = visit_birth("birth-wiped");
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_GT(found.torn, 0u) << "a genesis that no replica uses";
}

TEST(ExploreBirthTest, ADiskThatReportsTooEarlyIsFound) {
  const BirthFindings found = visit_birth("birth", BirthDefect::ReportsEarly);
  EXPECT_TRUE(found.violation.starts_with("INV_R04")) << found.violation;
  BirthScope scope = *birth_scope_named("birth");
  scope.defect = BirthDefect::ReportsEarly;
  EXPECT_EQ(tell_birth(scope, found.trace), found.violation);
}

TEST(ExploreBirthTest, AMemberWhoseGreetingSoundsBlankIsFound) {
  EXPECT_TRUE(visit_birth("birth-wiped", BirthDefect::GreetsAsBlank).violation.starts_with("INV_R04"));
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
