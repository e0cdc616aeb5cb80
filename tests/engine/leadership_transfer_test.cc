// Leadership transfers through the engine: from any replica, to any other, and when it is impossible.
#include "tests/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct EngineTransferTest : ThreeReplicas {
  absl::Status hand_over(uint64_t caller, uint64_t target, Duration timeout = 5s) {
    const Ticket ticket = cluster.transfer(caller, target, timeout);
    EXPECT_TRUE(cluster.until([&] { return cluster.answers(caller, ticket) > 0; }));
    return cluster.ended(caller, ticket).status;
  }
  ReplicaId seen_at(uint64_t id) { return cluster.engine(id).leadership().leader; }
};

TEST_F(EngineTransferTest, WhoeverIsAskedTheNamedOneLeads) {
  ASSERT_TRUE(hand_over(leader, follower).ok());
  EXPECT_EQ(seen_at(leader), ReplicaId(follower));
  ASSERT_TRUE(hand_over(third, third).ok());
  EXPECT_EQ(cluster.engine(third).leadership().role, raft::Role::Leader);
  ASSERT_TRUE(hand_over(follower, leader).ok());
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_TRUE(hand_over(follower, leader).ok()) << "it is so already";
  EXPECT_EQ(cluster.run(third, "add 1"), "1");
}

TEST_F(EngineTransferTest, WithoutANameTheBestVoterLeads) {
  cluster.crash(third);
  cluster.pass(1s);
  ASSERT_TRUE(hand_over(leader, 0).ok());
  EXPECT_EQ(cluster.engine(follower).leadership().role, raft::Role::Leader);
}

TEST_F(EngineTransferTest, WhoCannotLeadIsRefusedForCertain) {
  EXPECT_EQ(reason_of(hand_over(leader, 9)), Reason::MemberNotFound);
  Cluster lone(1);
  lone.start(1);
  ASSERT_EQ(lone.leader(), 1u);
  const Ticket ticket = lone.transfer(1, 0);
  lone.pass(2s);
  EXPECT_EQ(reason_of(lone.ended(1, ticket).status), Reason::NotEnoughVoters);
  EXPECT_EQ(outcome_of(lone.ended(1, ticket).status), Outcome::None);
}

TEST_F(EngineTransferTest, AnUnreachableTargetCostsNothingButTime) {
  cluster.crash(follower);
  const Ticket during = cluster.submit(leader, "add 1", 30s);
  const absl::Status status = hand_over(leader, follower, 3s);
  EXPECT_EQ(reason_of(status), Reason::CallTimeout);
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_EQ(cluster.answers(leader, during), 1u) << "it pauses for the others";
  EXPECT_EQ(cluster.run(leader, "add 1"), "2");
}

TEST_F(EngineTransferTest, LostRequestsAreRepeatedAndAnotherLeaderIsAskedToo) {
  int lost = 0;
  cluster.filter = [&](ReplicaId, ReplicaId, const Message& message) {
    const bool ours = std::holds_alternative<TransferRequest>(message) || std::holds_alternative<TransferReply>(message) ||
                      std::holds_alternative<raft::TimeoutNow>(message);
    return !ours || ++lost % 3 == 0;
  };
  EXPECT_TRUE(hand_over(follower, third, 10s).ok());
  EXPECT_GT(lost, 2);
}

TEST_F(EngineTransferTest, OneAtATimeAndWhoForgetsIsNotAnswered) {
  cluster.crash(third);
  const Ticket first = cluster.transfer(leader, third);
  const Ticket second = cluster.transfer(leader, follower);
  cluster.run_until_idle();
  EXPECT_EQ(reason_of(cluster.ended(leader, second).status), Reason::ChangeInProgress);
  cluster.post(leader, Forget{first});
  cluster.pass(10s);
  EXPECT_EQ(cluster.answers(leader, first), 0u);
  EXPECT_TRUE(hand_over(leader, follower).ok());
}

TEST_F(EngineTransferTest, WithoutALeaderNothingIsDone) {
  cluster.crash(leader);
  cluster.crash(third);
  cluster.pass(1s);
  const absl::Status status = hand_over(follower, follower, 1s);
  EXPECT_EQ(reason_of(status), Reason::NoLeader);
  EXPECT_EQ(outcome_of(status), Outcome::None);
}

TEST_F(EngineTransferTest, ALearnerCannotLead) {
  const Ticket demoted = cluster.change(leader, {{raft::MemberChange::Kind::Demote, {.id = ReplicaId(third)}, ReplicaId()}});
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(leader, demoted) > 0; }));
  ASSERT_TRUE(cluster.ended(leader, demoted).status.ok());
  const absl::Status status = hand_over(leader, third);
  EXPECT_EQ(reason_of(status), Reason::NotEnoughVoters);
  EXPECT_NE(std::string(status.message()).find("promote it first"), std::string::npos);
}

}  // namespace
}  // namespace coordkit::engine
