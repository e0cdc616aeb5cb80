// A campaign by itself: which answers belong to it, and when it is won.
#include "raft/campaigning.h"

#include <gtest/gtest.h>

#include "solo.h"

namespace coordkit::raft::testing {
namespace {

class CampaigningTest : public ::testing::Test {
 protected:
  Campaigning campaign(VoteKind kind) { return {ReplicaId(1), kind, Cause::Silence, 7}; }
  static VoteReply yes(VoteKind kind, uint64_t round) { return {kind, Term(2), round, Answer::Yes}; }

  const Options options_{.self = ReplicaId(1)};
  Log log_{options_, Recovered{.entries = log_of(3, {})}};
};

TEST_F(CampaigningTest, AsksEveryVoterButItselfAndNotBeforeItsWrite) {
  Outbox out;
  campaign(VoteKind::Real).ask_for_votes(Term(2), WriteNumber(4), log_, out);
  ASSERT_EQ(out.sends.size(), 2u);
  for (const Send& send : out.sends) {
    EXPECT_EQ(send.after, WriteNumber(4));
    EXPECT_EQ(std::get<VoteRequest>(send.message).round, 7u);
    EXPECT_EQ(std::get<VoteRequest>(send.message).last, log_.last());
  }
}

// Covers: REG_R11
TEST_F(CampaigningTest, OnlyAnswersOfItsKindTermAndRoundAreItsOwn) {
  const Campaigning real = campaign(VoteKind::Real);
  EXPECT_TRUE(real.answered_by(yes(VoteKind::Real, 7), Term(2)));
  EXPECT_FALSE(real.answered_by(yes(VoteKind::Real, 6), Term(2)));
  EXPECT_FALSE(real.answered_by(yes(VoteKind::Pre, 7), Term(2)));
  EXPECT_FALSE(real.answered_by(yes(VoteKind::Real, 7), Term(3)));
  EXPECT_TRUE(campaign(VoteKind::Pre).answered_by(yes(VoteKind::Pre, 7), Term(9))) << "a pre-vote carries the voter's own term";
}

TEST_F(CampaigningTest, AMajorityWinsOnceTheOwnVoteIsDurable) {
  Campaigning real = campaign(VoteKind::Real);
  log_.set_hard_state({Term(2), ReplicaId(1)});
  real.receive(ReplicaId(2), yes(VoteKind::Real, 7));
  EXPECT_FALSE(real.won(log_));
  log_.written(log_.take_write()->number);
  EXPECT_TRUE(real.won(log_));
}

TEST_F(CampaigningTest, ARefusalIsNoVote) {
  Campaigning pre = campaign(VoteKind::Pre);
  pre.receive(ReplicaId(2), VoteReply{VoteKind::Pre, Term(1), 7, Answer::No});
  EXPECT_FALSE(pre.won(log_));
  pre.receive(ReplicaId(3), yes(VoteKind::Pre, 7));
  EXPECT_TRUE(pre.won(log_));
}

}  // namespace
}  // namespace coordkit::raft::testing
