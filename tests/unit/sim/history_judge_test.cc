// INV_R25: what the judge of two histories calls wrong, each planted, and what it excuses; and that runs of the profile
// `histories` reach what they are for.
#include "sim/histories/history_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using End = KeyCall::End;
using std::chrono::seconds;

// Three places. The fault strikes at 10, everything is at rest from 20 on.
class HistoryJudgeTest : public ::testing::Test {
 protected:
  HistoryJudgeTest() {
    evidence.shown.resize(3);
    evidence.held.resize(3);
    evidence.remembers.resize(3);
    evidence.struck = at(10);
    evidence.rest = at(20);
    put(1, 5, 1, "a", "old");
    for (uint32_t place : {0, 1, 2}) given(place, 1, "a", "old");
  }
  static TrueTime at(int second) { return TrueTime(seconds(second)); }
  KeyCall& call(uint32_t place, int second) {
    return evidence.calls.emplace_back(
        KeyCall{.place = place, .end = End::Answered, .called = at(second), .answered = at(second) + Duration(1)});
  }
  KeyCall& put(uint32_t place, int second, uint64_t revision, const char* key, const char* value) {
    KeyCall& made = call(place, second);
    made.put = true;
    made.key = key, made.value = value;
    made.revision = made.changed = revision;
    return made;
  }
  KeyCall& get(uint32_t place, int second, uint64_t revision, const char* key, const char* value, uint64_t changed) {
    KeyCall& made = call(place, second);
    made.key = key, made.value = value;
    made.revision = revision, made.changed = changed;
    return made;
  }
  void given(uint32_t place, uint64_t revision, const char* key, const char* value) {
    evidence.shown[place].insert({revision, key, value});
    evidence.held[place].insert({revision, key, value});
  }
  // An acknowledged write that place 2 alone has kept, and the answers of the other two without it.
  void lose_a_write() {
    put(2, 8, 2, "a", "lost");
    given(2, 2, "a", "lost");
  }
  void rest() { get(0, 21, 30, "b", "", 0); }

  Evidence evidence;
};

TEST_F(HistoryJudgeTest, AllIsRightWhereNothingIsContradicted) {
  get(0, 12, 1, "a", "old", 1);
  put(1, 13, 2, "a", "new");
  get(2, 21, 2, "a", "new", 2);
  EXPECT_THAT(judge(evidence), IsEmpty());
}

TEST_F(HistoryJudgeTest, AValueThatNobodyWroteIsInvented) {
  rest();
  get(0, 12, 2, "a", "conjured", 2);
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("invented: n1 shows a=conjured of revision 2")));
  evidence.calls.pop_back();
  evidence.shown[1].insert({2, "a", "conjured"});
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("invented: n2 shows")));
  evidence.shown[1] = {{1, "b", "old"}};
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("invented: n2 shows b=old"))) << "it was written to another key";
}

TEST_F(HistoryJudgeTest, AnAnswerAtALowerRevisionContradicts) {
  rest();
  lose_a_write();
  get(0, 12, 1, "a", "old", 1);
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("silent: n3 was told of its write of a=lost")));
  evidence.calls.back().called = at(7);
  EXPECT_THAT(judge(evidence), IsEmpty()) << "it was called before the write was acknowledged";
}

TEST_F(HistoryJudgeTest, AnotherChangeAtTheSameRevisionContradicts) {
  rest();
  lose_a_write();
  put(0, 12, 2, "b", "other");
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("silent: n3 was told of its write of a=lost")));
  evidence.calls.back().end = End::Unknown;
  EXPECT_THAT(judge(evidence), IsEmpty());
  given(1, 2, "b", "other");
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("silent: n3 was told of its write of a=lost"))) << "as a watch shows it";
}

TEST_F(HistoryJudgeTest, AKeyAsItWasBeforeContradicts) {
  rest();
  lose_a_write();
  get(0, 12, 9, "a", "old", 1);
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("silent: n3 was told of its write of a=lost")));
  evidence.calls.back().key = "b", evidence.calls.back().value = "", evidence.calls.back().changed = 0;
  EXPECT_THAT(judge(evidence), IsEmpty()) << "another key";
}

TEST_F(HistoryJudgeTest, ARefusedWriteIsNotSeen) {
  rest();
  put(1, 12, 0, "a", "refused").end = End::Refused;
  EXPECT_THAT(judge(evidence), IsEmpty());
  given(0, 2, "a", "refused");
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("silent")));
  evidence.said = {0};
  EXPECT_THAT(judge(evidence), IsEmpty());
}

TEST_F(HistoryJudgeTest, AWordOfAPartyIsEnoughAndOfNobodyElse) {
  rest();
  lose_a_write();
  get(0, 12, 1, "a", "old", 1);
  evidence.said = {1};
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("silent")));
  evidence.said = {0};
  EXPECT_THAT(judge(evidence), IsEmpty());
  evidence.said = {2};
  EXPECT_THAT(judge(evidence), IsEmpty());
}

TEST_F(HistoryJudgeTest, AWriteThatNobodyRemembersIsExcused) {
  rest();
  lose_a_write();
  get(0, 12, 1, "a", "old", 1);
  evidence.held[2].clear();
  EXPECT_THAT(judge(evidence), IsEmpty());
}

TEST_F(HistoryJudgeTest, AnAnswerThatItsPlaceHasForgottenIsExcused) {
  rest();
  lose_a_write();
  get(0, 12, 1, "a", "old", 1);
  evidence.remembers[0] = at(13);
  EXPECT_THAT(judge(evidence), IsEmpty());
}

TEST_F(HistoryJudgeTest, TwoHistoriesAtRestAreWrongWhateverWasSaid) {
  evidence.said = {0, 1, 2};
  get(0, 21, 5, "b", "", 0);
  get(1, 22, 4, "b", "", 0);
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("two at rest")));
  evidence.calls.back().revision = 5;
  EXPECT_THAT(judge(evidence), IsEmpty());
  put(0, 23, 6, "b", "one");
  put(1, 23, 6, "b", "two");
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("two at rest"), StartsWith("two at rest")));
}

TEST_F(HistoryJudgeTest, AReadThatIsNeverAnsweredNeedsAReport) {
  get(0, 12, 1, "a", "old", 1);
  EXPECT_THAT(judge(evidence), ElementsAre(StartsWith("wordless")));
  evidence.said = {1};
  EXPECT_THAT(judge(evidence), IsEmpty());
}

// Covers: FLT_P27 FLT_P18 INV_R25
TEST(HistoriesProfileTest, ReplicasStopLoudlyAndInventNothing) {
  SituationCounts situations{};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Report report = simulate({.seed = seed, .profile = "histories"});
    EXPECT_EQ(report.violation, "") << "seed " << seed << ": " << report.what;
    for (size_t situation = 0; situation < kSituations; ++situation) situations[situation] += report.situations[situation];
  }
  for (const Situation situation : {Situation::MajoritySetBack, Situation::CopyBesideOriginal, Situation::Cut,
                                    Situation::SoundFollowerCompacted, Situation::SteppedAside}) {
    EXPECT_GT(situations[static_cast<size_t>(situation)], 0u) << name_of(situation);
  }
}

}  // namespace
}  // namespace coordkit::sim
