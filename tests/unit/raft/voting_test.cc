// Candidates that get a vote and replicas that campaign, judged from a log and from contact with leaders.
#include "raft/voting.h"

#include <gtest/gtest.h>

#include "solo.h"

namespace coordkit::raft::testing {
namespace {

using std::chrono::milliseconds;

class VotingTest : public ::testing::Test {
 protected:
  Voting voting() { return {options_, log_, leadership_, news_, now_}; }
  VoteRequest request(Position last, Cause cause = Cause::Silence) {
    return {.kind = VoteKind::Real, .term = Term(9), .round = 1, .last = last, .cause = cause};
  }

  Options options_{.self = ReplicaId(1)};
  Log log_{options_, Recovered{.hard_state = {Term(3), ReplicaId()}, .entries = log_of(3, {2, 3})}};
  Leadership leadership_{.term = Term(3)};
  LaggingTime now_{std::chrono::seconds(10)};
  LeaderNews news_{.contact = now_ - milliseconds(500)};
};

// Covers: REG_R15
TEST_F(VotingTest, TheLaterLastTermWinsThenTheLongerLog) {
  EXPECT_TRUE(voting().suits(request(at(3, 3))));
  EXPECT_TRUE(voting().suits(request(at(2, 4))));
  EXPECT_FALSE(voting().suits(request(at(9, 2))));
  EXPECT_FALSE(voting().suits(request(at(2, 3))));
}

TEST_F(VotingTest, AHeardLeaderIsNotDisturbedButByItsOwnOrder) {
  leadership_.leader = ReplicaId(2);
  news_.contact = now_ - milliseconds(299);
  EXPECT_FALSE(voting().suits(request(at(3, 3))));
  EXPECT_FALSE(voting().begins_new_term(ReplicaId(3), request(at(3, 3))));
  EXPECT_TRUE(voting().suits(request(at(3, 3), Cause::Transfer)));
  news_.contact = now_ - milliseconds(300);
  EXPECT_TRUE(voting().suits(request(at(3, 3))));
}

TEST_F(VotingTest, APreVoteBeginsNoTerm) {
  VoteRequest pre = request(at(3, 3));
  pre.kind = VoteKind::Pre;
  EXPECT_FALSE(voting().begins_new_term(ReplicaId(2), pre));
  EXPECT_TRUE(voting().begins_new_term(ReplicaId(2), request(at(3, 3))));
  EXPECT_TRUE(voting().begins_new_term(ReplicaId(2), Heartbeat{.term = Term(4)}));
  EXPECT_FALSE(voting().begins_new_term(ReplicaId(2), Heartbeat{.term = Term(3)}));
}

TEST_F(VotingTest, ARemovedReplicaIsSilentUntilALeaderSpeaks) {
  EXPECT_TRUE(voting().may_campaign());
  news_.removed = true;
  EXPECT_FALSE(voting().may_campaign());
  news_.received(now_);
  EXPECT_TRUE(voting().may_campaign());
}

TEST_F(VotingTest, ADiskThatOwesAWriteDoesNotCampaign) {
  log_.set_hard_state({Term(4), ReplicaId(2)});
  EXPECT_FALSE(voting().may_campaign());
  log_.written(log_.take_write()->number);
  EXPECT_TRUE(voting().may_campaign());
}

}  // namespace
}  // namespace coordkit::raft::testing
