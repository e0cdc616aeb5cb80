// A disk that has lost entries it had held: until the log is as long again it counts as if it had them, for votes only.
#include <gtest/gtest.h>

#include "solo.h"

namespace coordkit::raft::testing {
namespace {

// The log ends at entry 3 of term 2; the disk had held it up to entry 6 of term 3.
struct FloorTest : ::testing::Test {
  Solo solo{Recovered{.hard_state = {Term(4), {}}, .entries = log_of(3, {1, 2}), .floor = at(6, 3)}};

  Answer asked_by(uint64_t candidate, uint64_t term, Position last) {
    solo.receive(candidate, VoteRequest{.kind = VoteKind::Real, .term = Term(term), .round = term, .last = last});
    return solo.only<VoteReply>(candidate).granted;
  }
};

// Covers: FLT_D02
TEST_F(FloorTest, AReplicaThatLostEntriesVotesOnlyForLogsThatReachItsFloor) {
  EXPECT_EQ(asked_by(2, 5, at(3, 2)), Answer::No) << "as far as its own log";
  EXPECT_EQ(asked_by(2, 6, at(5, 3)), Answer::No);
  EXPECT_EQ(asked_by(2, 7, at(9, 2)), Answer::No);
  EXPECT_EQ(asked_by(2, 8, at(6, 3)), Answer::Yes);
  EXPECT_EQ(asked_by(3, 9, at(4, 4)), Answer::Yes);
}

// Covers: FLT_D02
TEST_F(FloorTest, ItDoesNotCampaign) {
  for (int i = 0; i < 3; ++i) solo.timeout();
  EXPECT_EQ(solo.role(), Role::Follower);
  EXPECT_TRUE(solo.effects.sends.empty());
}

// Covers: FLT_D02
TEST_F(FloorTest, TheFirstAppendTakesAwayWhatTheStoreStillHasBehindTheCut) {
  solo.receive(2, solo.append(5, at(3, 2), {}));
  ASSERT_TRUE(solo.effects.write) << "the term";
  EXPECT_FALSE(solo.effects.write->truncate_after) << "nothing has taken its place yet";
  solo.receive(2, solo.append(5, at(3, 2), {command(4, 2)}));
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->truncate_after, Index(3));
  EXPECT_EQ(solo.effects.write->entries.size(), 1u);
  solo.receive(2, solo.append(5, at(4, 2), {command(5, 3)}));
  EXPECT_FALSE(solo.effects.write->truncate_after);
}

// Covers: FLT_D02
TEST_F(FloorTest, TheFloorGoesWhenTheDurableLogHasReachedIt) {
  solo.receive(2, solo.append(5, at(3, 2), {command(4, 2), command(5, 3)}));
  solo.written();
  EXPECT_EQ(solo.core().floor(), at(6, 3));
  solo.receive(2, solo.append(5, at(5, 3), {command(6, 3)}));
  EXPECT_EQ(solo.core().floor(), at(6, 3)) << "not durable yet";
  solo.written();
  EXPECT_EQ(solo.core().floor(), Position());
  solo.timeout();
  EXPECT_EQ(solo.role(), Role::PreCandidate);
}

TEST_F(FloorTest, AnEntryOfALaterTermIsAsGood) {
  solo.receive(2, solo.append(5, at(3, 2), {command(4, 5)}));
  solo.written();
  EXPECT_EQ(solo.core().floor(), Position());
}

}  // namespace
}  // namespace coordkit::raft::testing
