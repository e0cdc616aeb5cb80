// Leadership transfer (thesis 3.10), on request and because of a stalled disk.
#include <gtest/gtest.h>

#include "solo.h"

namespace coordkit::raft::testing {
namespace {

using Kind = TransferOutcome::Kind;

TEST(TransferTest, ANamedVoterLeadsWithoutASilence) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.transfer(1, 3, milliseconds(300));
  cluster.quiesce();
  EXPECT_EQ(cluster.leader(), 3u);
  EXPECT_EQ(cluster.core(3).leadership().term, Term(3)) << "one term burnt, no pre-vote";
  ASSERT_EQ(cluster.node(1).transfers.size(), 1u);
  EXPECT_EQ(cluster.node(1).transfers[0].kind, Kind::Done);
}

TEST(TransferTest, TheBestIsTheMostAdvancedThatAnswers) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.isolate(2);
  cluster.propose(1, "x");
  cluster.quiesce();
  cluster.transfer(1, 0, milliseconds(300));
  cluster.quiesce();
  EXPECT_EQ(cluster.leader(), 3u);
}

TEST(TransferTest, ProposalsAreRefusedAndTheDeadlineEndsItCleanly) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.cut(1, 2);
  cluster.cut(2, 1);
  cluster.propose(1, "x");
  cluster.transfer(1, 2, milliseconds(200));
  cluster.propose(1, "y");
  EXPECT_EQ(cluster.node(1).outcomes.back().kind, ProposalOutcome::Kind::Transferring);
  cluster.transfer(1, 3, milliseconds(200));
  EXPECT_EQ(cluster.node(1).transfers.back().kind, Kind::InProgress);
  cluster.run(milliseconds(190));
  cluster.propose(1, "y");
  EXPECT_EQ(cluster.node(1).outcomes.back().kind, ProposalOutcome::Kind::Transferring);
  cluster.run(milliseconds(10));
  EXPECT_EQ(cluster.node(1).transfers.back().kind, Kind::Expired);
  EXPECT_EQ(cluster.leader(), 1u);
  cluster.propose(1, "z");
  EXPECT_EQ(cluster.node(1).outcomes.back().kind, ProposalOutcome::Kind::Appended);
}

TEST(TransferTest, TheTargetIsCaughtUpFirst) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.cut(1, 2);
  for (int i = 0; i < 5; ++i) cluster.propose(1, "x");
  cluster.quiesce();
  cluster.transfer(1, 2, milliseconds(300));
  cluster.heal();
  cluster.run(milliseconds(150));
  EXPECT_EQ(cluster.leader(), 2u);
  EXPECT_EQ(cluster.node(1).transfers.back().kind, Kind::Done);
}

TEST(TransferTest, ALostOrderIsRepeatedWithTheNextRound) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.transfer(1, 2, milliseconds(300));
  cluster.clear_network();
  cluster.advance(1, milliseconds(60));
  cluster.quiesce();
  EXPECT_EQ(cluster.leader(), 2u);
}

TEST(TransferTest, OnlyTheLeaderOfThisTermGivesTheOrder) {
  Solo solo(3);
  solo.receive(2, Heartbeat{.term = Term(5)});
  solo.written();
  for (const auto& [from, term] : {std::pair{3, 5}, {3, 6}, {2, 6}, {2, 4}}) {
    solo.receive(static_cast<uint64_t>(from), TimeoutNow{Term(static_cast<uint64_t>(term))});
    EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(5), ReplicaId(2)}));
  }
  solo.receive(2, TimeoutNow{Term(5)});
  EXPECT_EQ(solo.role(), Role::Candidate);
  EXPECT_EQ(solo.only<VoteRequest>(3).cause, Cause::Transfer);
}

TEST(TransferTest, StickinessYieldsToALawfulHandoverOnly) {
  Solo solo(3);
  solo.receive(2, Heartbeat{.term = Term(5)});
  VoteRequest request{.kind = VoteKind::Real, .term = Term(6), .round = 1, .last = at(1, 1)};
  solo.receive(3, request);
  EXPECT_EQ(solo.only<VoteReply>(3).granted, Answer::No);
  EXPECT_EQ(solo.term(), Term(5));
  request.cause = Cause::Transfer;
  solo.receive(3, request);
  EXPECT_EQ(solo.only<VoteReply>(3).granted, Answer::Yes);
}

TEST(TransferTest, AskedBeforeItsTermHasCommittedAnythingTheOrderWaitsForItsFirstEntryToo) {
  Solo solo(5, {1});
  solo.lead({2, 3});
  EXPECT_TRUE(solo.step(Transfer{Ticket(7), ReplicaId(2), solo.now + milliseconds(100)}).transfers.empty());
  EXPECT_TRUE(solo.sent<TimeoutNow>(2).empty());
  solo.accept(2, solo.last().value() - 1);
  EXPECT_TRUE(solo.sent<TimeoutNow>(2).empty()) << "it lacks the first entry of the term";
  solo.accept(2, solo.last().value());
  EXPECT_EQ(solo.sent<TimeoutNow>(2).size(), 1u) << "committed or not: an election loses nothing that is";
  EXPECT_LT(solo.core().commit(), solo.last());
}

TEST(TransferTest, TimeoutNowVoidsTheLeasesOfTheTerm) {
  Solo solo(3);
  solo.lead({2, 3});
  solo.accept(2, 2);
  solo.written();
  EXPECT_EQ(solo.core().status().lease_void, Term());
  solo.step(Transfer{Ticket(7), ReplicaId(2), solo.now + milliseconds(100)});
  EXPECT_EQ(solo.sent<TimeoutNow>(2).size(), 1u);
  EXPECT_EQ(solo.core().status().lease_void, solo.term());
}

// ---- the leader's own disk

// Three replicas that have been quiet for longer than a leader must have led, and one entry in flight.
class OwnDiskTest : public ::testing::Test {
 protected:
  OwnDiskTest() {
    cluster.elect(1);
    cluster.run(milliseconds(3100));
  }
  // Writes become durable only here, so a disk that is stalled now and then is a slow one.
  void stall(std::initializer_list<uint64_t> ids) {
    for (const uint64_t id : ids) cluster.node(id).disk_stalled = true;
  }

  Cluster cluster{3};
};

// Covers: FLT_P10 FLT_D04
TEST_F(OwnDiskTest, ALeaderWhoseDiskStallsWhileTheOthersCommitHandsOver) {
  stall({1});
  cluster.propose(1, "x");
  cluster.run(milliseconds(250));
  EXPECT_EQ(cluster.core(1).commit(), Index(3)) << "the followers are enough";
  EXPECT_EQ(cluster.leader(), 1u);
  cluster.run(milliseconds(250));
  EXPECT_NE(cluster.leader(), 1u);
  EXPECT_EQ(cluster.core(cluster.leader()).leadership().term, Term(3));
  cluster.node(1).disk_stalled = false;
  cluster.run(milliseconds(100));
  EXPECT_TRUE(cluster.converged());
}

// Covers: FLT_P10
TEST_F(OwnDiskTest, ASlowDiskOfAFollowerMovesNobody) {
  stall({2});
  for (int i = 0; i < 20; ++i) cluster.propose(1, "x"), cluster.run(milliseconds(100));
  EXPECT_EQ(cluster.leader(), 1u);
  EXPECT_EQ(cluster.core(1).commit(), Index(22));
}

// Covers: FLT_P10
TEST_F(OwnDiskTest, WhereEveryDiskIsSlowNobodyHandsOver) {
  stall({1, 2, 3});
  for (int second = 0; second < 20; ++second) {
    cluster.propose(1, "x");
    cluster.run(milliseconds(700));
    for (uint64_t id = 3; id >= 1; --id) {  // the leader's is the slowest
      cluster.written_all(id);
      cluster.run(milliseconds(100));
    }
  }
  EXPECT_EQ(cluster.leader(), 1u);
  EXPECT_EQ(cluster.core(1).leadership().term, Term(2));
}

// Covers: FLT_P10
TEST_F(OwnDiskTest, ALeaderOfAStalledDiskHandsOverOnlyToAPeerThatKeptUp) {
  cluster.node(1).disk_stalled = true;
  cluster.cut(2, 1);  // its acknowledgements are lost for a while: it could be anything
  cluster.propose(1, "x");
  cluster.run(milliseconds(200));
  cluster.heal();
  cluster.run(milliseconds(250));
  EXPECT_EQ(cluster.leader(), 3u);
}

// Covers: FLT_P10
TEST(TransferTest, AStalledDiskEndsNoLeadershipInItsFirstTenElectionTimeouts) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.node(1).disk_stalled = true;
  cluster.propose(1, "x");
  cluster.run(milliseconds(2900));
  EXPECT_EQ(cluster.leader(), 1u);
  cluster.run(milliseconds(300));
  EXPECT_NE(cluster.leader(), 1u);
}

// Covers: FLT_P11
TEST_F(OwnDiskTest, ALeaderWhoseDiskNeverAnswersStepsDownIfNobodyTakesOver) {
  stall({1});
  cluster.propose(1, "x");
  cluster.quiesce();
  std::vector<ReplicaId> asked;
  for (int i = 0; i < 200 && cluster.core(1).leadership().role == Role::Leader; ++i) {  // TimeoutNow is lost, always
    cluster.advance_all(milliseconds(10));
    if (const ReplicaId successor = cluster.core(1).status().successor) asked.push_back(successor);
    std::erase_if(cluster.network(), [](const Flight& f) { return std::holds_alternative<TimeoutNow>(f.message); });
    cluster.quiesce();
  }
  EXPECT_FALSE(asked.empty());
  EXPECT_TRUE(cluster.node(1).transfers.empty()) << "no one asked";
  EXPECT_EQ(cluster.core(1).leadership().role, Role::Follower);
  cluster.run(milliseconds(1500));
  EXPECT_TRUE(cluster.leader() == 2 || cluster.leader() == 3);
}

}  // namespace
}  // namespace coordkit::raft::testing
