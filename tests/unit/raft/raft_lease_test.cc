// Leader leases (thesis 6.4.1): what they rest on, and who may not vote while they last.
#include <gtest/gtest.h>

#include "raft/freshness.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

Options leased() {
  Options options;
  options.lease = lease_of(options.election_timeout, 10'000);
  return options;
}

constexpr Duration kElectionTimeout = Options().election_timeout;

// Replica 1 of three leads, and an entry of its own is committed.
struct LeaseTest : ::testing::Test {
  Solo solo{3, {}, {}, leased()};

  void SetUp() override {
    solo.lead({2});
    solo.written();
    solo.accept(2, 2);
    ASSERT_EQ(solo.core().commit(), Index(2));
  }
  uint64_t round_sent(uint64_t to) { return solo.only<Heartbeat>(to).round; }
  void answer(uint64_t from, uint64_t round) {
    solo.receive(from, HeartbeatReply{.term = solo.term(), .stream = solo.streams[from], .match = Index(2), .round = round});
  }
};

TEST_F(LeaseTest, WithoutTheOptionALeaderHasNoLease) {
  Solo plain(3);
  plain.lead({2});
  plain.written();
  plain.accept(2, 2);
  EXPECT_EQ(plain.core().commit(), Index(2));
  EXPECT_FALSE(plain.core().lease());
}

TEST_F(LeaseTest, ALeaseRestsOnTheSendingOfARoundThatAQuorumAnswered) {
  solo.heartbeat_interval();
  answer(2, round_sent(2));
  const LaggingTime first = solo.core().lease().value().since;
  solo.heartbeat_interval();
  const LaggingTime sent = solo.now;
  const uint64_t round = round_sent(2);
  solo.now += milliseconds(100);
  solo.step(Tick{});
  EXPECT_EQ(solo.core().lease()->since, first) << "no peer has answered yet";
  answer(2, round);
  ASSERT_TRUE(solo.core().lease());
  EXPECT_EQ(solo.core().lease()->since, sent) << "when the answer came in says nothing";
  EXPECT_EQ(solo.core().lease()->read_index, Index(2));
}

// Covers: REG_R59
TEST_F(LeaseTest, NoneBeforeAnOwnEntryIsCommitted) {
  Solo fresh(3, {}, {}, leased());
  fresh.lead({2});
  fresh.written();
  fresh.heartbeat_interval();
  fresh.receive(2, HeartbeatReply{.term = fresh.term(), .stream = fresh.streams[2], .round = fresh.only<Heartbeat>(2).round});
  EXPECT_FALSE(fresh.core().lease());
  fresh.accept(2, 2);
  EXPECT_TRUE(fresh.core().lease());
}

// Covers: REG_R61
TEST_F(LeaseTest, VoidFromTheOrderToCampaignToTheEndOfTheTerm) {
  solo.step(Transfer{Ticket(1), ReplicaId(2), solo.now + milliseconds(50)});
  ASSERT_EQ(solo.sent<TimeoutNow>(2).size(), 1u);
  EXPECT_FALSE(solo.core().lease());
  solo.now += milliseconds(60);
  solo.step(Tick{});
  ASSERT_EQ(solo.effects.transfers.size(), 1u) << "given up";
  solo.heartbeat_interval();
  answer(2, round_sent(2));
  EXPECT_EQ(solo.role(), Role::Leader);
  EXPECT_FALSE(solo.core().lease());
}

// Hearing a leader is a promise to it that a term learned otherwise does not undo.
TEST(LeasePromiseTest, AVoterThatMovedToALaterTermKeepsItsPromise) {
  for (const bool leases : {true, false}) {
    Solo voter(3, {}, {}, leases ? leased() : Options());
    voter.receive(2, Heartbeat{.term = Term(2), .stream = 1, .round = 1});
    voter.receive(3, HeartbeatReply{.term = Term(4)});  // a later term, from any replica
    ASSERT_EQ(voter.term(), Term(4));
    const VoteRequest request{.kind = VoteKind::Real, .term = Term(5), .round = 1, .last = at(9, 4)};
    voter.now += kElectionTimeout - milliseconds(1);
    EXPECT_EQ(voter.receive(3, request).sends.size(), 1u);
    EXPECT_EQ(voter.only<VoteReply>(3).granted, leases ? Answer::No : Answer::Yes);
    voter.now += milliseconds(1);
    voter.receive(3, request);
    EXPECT_EQ(voter.only<VoteReply>(3).granted, Answer::Yes);
  }
}

TEST(LeasePromiseTest, ARestartedReplicaVotesForNobodyForAnElectionTimeout) {
  for (const bool leases : {true, false}) {
    Solo voter(3, {}, {}, leases ? leased() : Options());
    const VoteRequest request{.kind = VoteKind::Pre, .term = Term(3), .round = 1, .last = at(9, 2)};
    voter.now += kElectionTimeout - milliseconds(1);
    voter.receive(3, request);
    EXPECT_EQ(voter.only<VoteReply>(3).granted, leases ? Answer::No : Answer::Yes);
    voter.now += milliseconds(1);
    voter.receive(3, request);
    EXPECT_EQ(voter.only<VoteReply>(3).granted, Answer::Yes);
  }
}

TEST(LeaseOptionsTest, TheLengthAllowsForBothClocks) {
  EXPECT_EQ(lease_of(milliseconds(101), 10'000), milliseconds(99));
  EXPECT_EQ(lease_of(milliseconds(300), 0), milliseconds(300));
  EXPECT_EQ(lease_of(milliseconds(300), 1'000'000), Duration::zero());
  EXPECT_EQ(lease_of(std::chrono::hours(1), 500'000), std::chrono::minutes(20));
}

// Covers: REG_R66
TEST(LeaseOptionsTest, ALeaseAsLongAsTheElectionTimeoutIsRefused) {
  Options options = leased();
  options.self = ReplicaId(1);
  EXPECT_TRUE(options.validate().ok());
  options.lease = options.election_timeout;
  EXPECT_EQ(options.validate().code(), absl::StatusCode::kInvalidArgument);
  options.lease = Duration(-1);
  EXPECT_EQ(options.validate().code(), absl::StatusCode::kInvalidArgument);
}

// ---- how old a follower's state may be

TEST(FreshnessTest, AWordCountsOnceItIsApplied) {
  const LaggingTime start{std::chrono::seconds(1)};
  Freshness freshness;
  EXPECT_FALSE(freshness.at());
  freshness.received(Index(5), start, Index(3));
  EXPECT_FALSE(freshness.at());
  freshness.received(Index(7), start + milliseconds(10), Index(4));
  freshness.applied(Index(5));
  EXPECT_EQ(freshness.at(), start);
  freshness.received(Index(5), start + milliseconds(20), Index(5));
  EXPECT_EQ(freshness.at(), start + milliseconds(20)) << "nothing new was committed meanwhile";
}

TEST(FreshnessTest, ALaggingFollowerIsNotMadeFreshByItsShareOfTheCommit) {
  Solo follower(3);
  follower.receive(2, follower.append(2, at(1, 1), {command(2, 2)}, 1));
  follower.written();
  // Match 2, so it is told commit 2; but 9 are committed.
  follower.receive(2, Heartbeat{.term = Term(2), .stream = 1, .commit = Index(2), .round = 2, .committed = Index(9)});
  follower.core().applied(Index(2));
  EXPECT_FALSE(follower.core().fresh_at());
}

}  // namespace
}  // namespace coordkit::raft::testing
