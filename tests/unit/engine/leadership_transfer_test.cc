// Leadership transfers through the engine: from any replica, to any other, and when it is impossible.
#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/engine/three_replicas.h"

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

TEST_F(EngineTransferTest, TheNamedReplicaLeadsWhicheverReplicaIsAsked) {
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

TEST_F(EngineTransferTest, ATargetThatCannotLeadIsRefusedWithoutEffect) {
  EXPECT_EQ(reason_of(hand_over(leader, 9)), Reason::MemberNotFound);
  Cluster lone(1);
  lone.start(1);
  ASSERT_EQ(lone.leader(), 1u);
  const Ticket ticket = lone.transfer(1, 0);
  lone.pass(2s);
  EXPECT_EQ(reason_of(lone.ended(1, ticket).status), Reason::NotEnoughVoters);
  EXPECT_EQ(outcome_of(lone.ended(1, ticket).status), Outcome::NoEffect);
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

// A change of members, a state, a confirmation: a leader waits for each of them, and takes commands meanwhile.
// Covers: FLT_P26
TEST_F(EngineTransferTest, NothingElseThatAPeerAsksForHoldsUpCommands) {
  using Change = raft::MemberChange;
  const Duration timeout = raft::Options{}.election_timeout;
  const auto asks = [&](Message message) { cluster.post(leader, MessageReceived{ReplicaId(follower), std::move(message)}); };
  const raft::Member nobody{ReplicaId(9), StoreId(999), "nowhere"};
  uint64_t attempt = 0;
  for (int i = 0; i < 40; ++i) {
    const raft::Status status = cluster.engine(leader).core()->status();
    for (const Change::Kind kind : {Change::Kind::AddLearner, Change::Kind::Promote, Change::Kind::Replace}) {
      asks(ChangeRequest{++attempt, status.configuration_index, {{kind, nobody, ReplicaId(third)}}});
    }
    asks(StateRequest{status.hard_state.term, {Index(1), Term(1)}, {}, std::nullopt});
    asks(StateLoading{status.hard_state.term, {Index(1), Term(1)}});
    for (int question = 0; question < 100; ++question) asks(ReadIndexRequest{++attempt});
    const Ticket call = cluster.submit(leader, "add 1");
    cluster.pass(timeout / 10);
    ASSERT_EQ(cluster.answers(leader, call), 1u) << "round " << i;
  }
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
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

TEST_F(EngineTransferTest, ASecondTransferIsRefusedAndAForgottenOneIsNotAnswered) {
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
  EXPECT_EQ(outcome_of(status), Outcome::NoEffect);
}

TEST_F(EngineTransferTest, ACallMadeWhileNoLeaderIsKnownEndsWhenTheNamedOneIsHeardAgain) {
  isolate(follower);
  ASSERT_TRUE(cluster.until([&] { return !seen_at(follower); }));
  const Term before = cluster.engine(leader).leadership().term;
  const Ticket ticket = cluster.transfer(follower, leader);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, ticket) > 0; }));
  EXPECT_TRUE(cluster.ended(follower, ticket).status.ok()) << cluster.ended(follower, ticket).status;
  EXPECT_EQ(cluster.engine(leader).leadership(), (raft::Leadership{raft::Role::Leader, before, ReplicaId(leader)}));
}

TEST_F(EngineTransferTest, ALearnerCannotLead) {
  const Ticket demoted = cluster.change(leader, {{raft::MemberChange::Kind::Demote, {.id = ReplicaId(third)}, ReplicaId()}});
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(leader, demoted) > 0; }));
  ASSERT_TRUE(cluster.ended(leader, demoted).status.ok());
  const absl::Status status = hand_over(leader, third);
  EXPECT_EQ(reason_of(status), Reason::NotEnoughVoters);
  EXPECT_NE(std::string(status.message()).find("promote it first"), std::string::npos);
}

// ---- messages that take their time: the new leader is heard of before its first entry is

struct DistantTransferTest : EngineTransferTest {
  struct Letter {
    LaggingTime due;
    ReplicaId from, to;
    Message message;
  };
  std::vector<Letter> on_the_way;

  // Messages from and to `far` take `away` from here on, those between the two others 1 ms.
  void move_away(uint64_t far, Duration away) {
    cluster.filter = [this, far, away](ReplicaId from, ReplicaId to, const Message& message) {
      const bool long_way = from.value() == far || to.value() == far;
      on_the_way.push_back({cluster.now() + (long_way ? away : 1ms), from, to, message});
      return false;
    };
    travel(1s);
  }
  void travel(Duration time) {
    for (const LaggingTime end = cluster.now() + time; cluster.now() < end;) {
      cluster.pass(500us);
      std::vector<Letter> letters = std::exchange(on_the_way, {});
      for (Letter& one : letters) {
        if (one.due > cluster.now()) {
          on_the_way.push_back(std::move(one));
        } else {
          cluster.post(one.to.value(), MessageReceived{one.from, std::move(one.message)});
        }
      }
    }
  }
  Term term() {
    Term newest;
    for (uint64_t id = 1; id <= 3; ++id) newest = std::max(newest, cluster.engine(id).leadership().term);
    return newest;
  }
  void expect_one_move(uint64_t caller) {
    const Term before = term();
    const Ticket ticket = cluster.transfer(caller, 0);
    travel(5s);
    EXPECT_TRUE(cluster.ended(caller, ticket).status.ok()) << cluster.ended(caller, ticket).status;
    EXPECT_EQ(term(), before.next());
    EXPECT_NE(seen_at(caller), ReplicaId(leader));
    EXPECT_NE(seen_at(caller), ReplicaId(caller)) << "it would not have heard of its own entry late";
  }
};

TEST_F(DistantTransferTest, WithoutANameLeadershipMovesOnceForACallerThatIsNear) {
  move_away(follower, 2ms);
  expect_one_move(third);
}

TEST_F(DistantTransferTest, WithoutANameLeadershipMovesOnceForACallerThatIsFar) {
  move_away(third, 20ms);
  expect_one_move(third);
}

TEST_F(DistantTransferTest, WithoutANameLeadershipMovesOnceForACallerThatIsSlow) {
  cluster.node(third).turn_takes = 30ms;
  move_away(follower, 1ms);
  expect_one_move(third);
}

}  // namespace
}  // namespace coordkit::engine
