// Replicas notice by themselves that their states differ, within one interval, and the wrong one steps aside.
#include "engine/apply/divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

using Verdict = Divergence::Verdict;

// ---- the verdict alone

raft::Configuration voters(uint64_t count) {
  raft::Configuration configuration;
  for (uint64_t id = 1; id <= count; ++id) configuration.voters.push_back({ReplicaId(id), StoreId(id), ""});
  return configuration;
}

struct Check {
  explicit Check(uint64_t voters_, uint64_t self = 1, uint64_t own = 7)
      : configuration(voters(voters_)), check(ReplicaId(self), 1s) {
    sample(100, own);
  }
  void sample(uint64_t index, uint64_t digest) { check.note({ReplicaId(), Index(index), digest}, configuration, leader); }
  std::optional<Verdict> vote(uint64_t replica, uint64_t digest, uint64_t index = 100) {
    const auto found = check.note({ReplicaId(replica), Index(index), digest}, configuration, leader);
    if (!found) return std::nullopt;
    return found->verdict;
  }
  raft::Configuration configuration;
  DivergenceCheck check;
  ReplicaId leader{1};
};

TEST(DivergenceCheckTest, AgreementIsNoNews) {
  Check three(3);
  for (const uint64_t id : {1, 2, 3}) EXPECT_EQ(three.vote(id, 7), std::nullopt);
  EXPECT_EQ(three.check.warning(), "");
}

TEST(DivergenceCheckTest, AMajorityOfAnotherDigestConvictsThisReplica) {
  Check three(3);
  EXPECT_EQ(three.vote(2, 8), Verdict::Unclear);
  EXPECT_EQ(three.vote(1, 7), std::nullopt);  // still unclear
  EXPECT_EQ(three.vote(3, 8), Verdict::Self);
  EXPECT_NE(three.check.warning().find("this state is not the one that the cluster agrees on"), std::string::npos);
}

TEST(DivergenceCheckTest, ItIsConvictedEvenIfItsOwnVoteNeverGotThrough) {
  Check three(3);
  three.vote(2, 8);
  EXPECT_EQ(three.vote(3, 8), Verdict::Self);
}

TEST(DivergenceCheckTest, AMinorityWithAnotherDigestConvictsOnlyItself) {
  Check five(5);
  EXPECT_EQ(five.vote(2, 8), Verdict::Unclear);
  five.vote(1, 7);
  five.vote(3, 7);
  EXPECT_EQ(five.vote(4, 7), Verdict::Other);
  EXPECT_EQ(five.vote(5, 8), std::nullopt);  // the same verdict again
}

// The third voter is silent for good, so no vote of its own will ever decide (FLT_P27).
TEST(DivergenceCheckTest, AFollowerThatDiffersForAWholeIntervalStepsAsideThoughAVoterIsSilent) {
  for (const uint64_t self : {1, 2}) {
    Check three(3, self, self);
    three.vote(1, 1);
    three.vote(2, 2);
    three.sample(200, self);
    EXPECT_EQ(three.vote(1, 1, 200), self == 1 ? std::nullopt : std::optional(Verdict::Unclear));
    EXPECT_EQ(three.vote(2, 2, 200), self == 1 ? Verdict::Unclear : Verdict::Self);
  }
}

TEST(DivergenceCheckTest, AVoterThatVotedAtTheIndexBeforeIsWaitedFor) {
  Check five(5, 2);
  for (const uint64_t id : {1, 2, 3, 4}) five.vote(id, id % 2 == 1 ? 8 : 7);
  five.sample(200, 7);
  EXPECT_EQ(five.vote(1, 8, 200), Verdict::Unclear);
  EXPECT_EQ(five.vote(2, 7, 200), std::nullopt);
  EXPECT_EQ(five.vote(3, 8, 200), std::nullopt) << "replica 4 is to come";
  EXPECT_EQ(five.vote(4, 7, 200), Verdict::Self) << "replica 5 is not, and the leader differs";
}

TEST(DivergenceCheckTest, WithoutAMajorityThoseWhoDifferFromTheLeaderStepAside) {
  for (const uint64_t self : {1, 2}) {
    Check two(2, self, self);
    const auto first = two.vote(1, 1), second = two.vote(2, 2);
    if (self == 1) {
      EXPECT_EQ(first, std::nullopt);
      EXPECT_EQ(second, Verdict::Unclear);
    } else {
      EXPECT_EQ(first, Verdict::Unclear);
      EXPECT_EQ(second, Verdict::Self);
    }
  }
}

TEST(DivergenceCheckTest, WithoutAMajorityAndALeaderNobodyIsConvicted) {
  Check two(2);
  two.leader = ReplicaId();
  two.vote(1, 7);
  EXPECT_EQ(two.vote(2, 8), Verdict::Unclear);
}

TEST(DivergenceCheckTest, VotesThatAreMissingMayStillDecide) {
  Check four(4, 4, 9);
  four.vote(1, 7);
  four.vote(2, 7);
  EXPECT_EQ(four.vote(4, 9), std::nullopt);  // the third vote for 7 may come, so it is still unclear
  EXPECT_EQ(four.vote(3, 7), Verdict::Self);
}

TEST(DivergenceCheckTest, OnlyVotersCount) {
  Check three(3);
  EXPECT_EQ(three.vote(4, 8), std::nullopt);
  EXPECT_EQ(three.vote(5, 8), std::nullopt);
  Check learner(3, 9);
  EXPECT_EQ(learner.check.due(LaggingTime(1s)), std::nullopt);
  learner.vote(1, 8);
  EXPECT_EQ(learner.vote(2, 8), Verdict::Self);
}

TEST(DivergenceCheckTest, IndexesWithoutAnOwnDigestAreNotCompared) {
  Check three(3);
  for (const uint64_t id : {1, 2, 3}) EXPECT_EQ(three.vote(id, 8, 50), std::nullopt);
  for (uint64_t i = 0; i < DivergenceCheck::kIndexesKept; ++i) three.sample(200 + i, 7);
  for (const uint64_t id : {1, 2, 3}) EXPECT_EQ(three.vote(id, 8), std::nullopt);  // 100 is forgotten
}

TEST(DivergenceCheckTest, AnOwnVoteIsHandedOverUntilItIsSeenInTheLog) {
  Check three(3);
  const DigestVote own{ReplicaId(1), Index(100), 7};
  EXPECT_EQ(three.check.due(LaggingTime(5s)), own);
  EXPECT_EQ(three.check.due(LaggingTime(5500ms)), std::nullopt);
  EXPECT_EQ(three.check.next_deadline(), LaggingTime(6s));
  three.check.leadership_changed();
  EXPECT_EQ(three.check.due(LaggingTime(5500ms)), own);
  three.vote(1, 6);  // from an earlier boot with a different state
  EXPECT_EQ(three.check.due(LaggingTime(7s)), own);
  three.vote(1, 7);
  EXPECT_EQ(three.check.due(LaggingTime(9s)), std::nullopt);
  EXPECT_EQ(three.check.next_deadline(), LaggingTime::max());
}

TEST(DivergenceCheckTest, AReplicaAloneHasNobodyToCompareWith) {
  Check one(1);
  EXPECT_EQ(one.check.due(LaggingTime(5s)), std::nullopt);
}

TEST(DivergenceCheckTest, TheWarningGoesWhenAllAgreeAgain) {
  Check three(3);
  three.vote(2, 8);
  EXPECT_NE(three.check.warning(), "");
  three.sample(200, 5);
  for (const uint64_t id : {1, 2, 3}) three.vote(id, 5, 200);
  EXPECT_EQ(three.check.warning(), "");
}

// ---- whole replicas

constexpr uint64_t kInterval = kDigestEntriesMin;

struct DivergenceTest : ThreeReplicas {
  DivergenceTest() : ThreeReplicas(often) {}
  static void often(EngineOptions& options) { options.digest_entries = kInterval; }

  ReplicaState state(uint64_t id) { return cluster.engine(id).status().state; }
  // Until one more comparison has been made, and its votes are in.
  void one_interval(uint64_t by) {
    for (uint64_t i = 0; i < kInterval; ++i) cluster.submit(by, "add 1");
    cluster.pass(1s);
  }
  void expect_calls_work(uint64_t id) {
    const Ticket ticket = cluster.submit(id, "add 1");
    ASSERT_TRUE(cluster.until([&] { return cluster.answers(id, ticket) > 0; }));
    EXPECT_TRUE(cluster.ended(id, ticket).status.ok()) << cluster.ended(id, ticket).status;
  }
};

TEST_F(DivergenceTest, EqualStatesAreComparedAndNothingIsSaid) {
  for (int i = 0; i < 5; ++i) one_interval(follower);
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_TRUE(cluster.node(id).divergences.empty());
    EXPECT_TRUE(cluster.engine(id).status().warnings.empty());
    EXPECT_EQ(state(id), ReplicaState::Ready);
  }
  const Index before = cluster.engine(leader).applied();
  cluster.pass(60s);  // an idle cluster does not feed itself with comparisons
  EXPECT_EQ(cluster.engine(leader).applied(), before);
}

// Covers: FLT_A08
TEST_F(DivergenceTest, AFollowerThatDivergesIsFoundWithinOneIntervalAndStepsAside) {
  cluster.node(follower).counter->skew = 1;
  one_interval(leader);
  EXPECT_EQ(state(follower), ReplicaState::Quarantine);
  ASSERT_FALSE(cluster.node(follower).divergences.empty());
  const Divergence& found = cluster.node(follower).divergences.back();
  EXPECT_EQ(found.verdict, Verdict::Self);
  EXPECT_EQ(found.index.value() % kInterval, 0u);
  EXPECT_NE(found.own, found.others);
  EXPECT_EQ(cluster.engine(follower).status().reason, found.sentence);
  for (const uint64_t id : {leader, third}) {
    ASSERT_FALSE(cluster.node(id).divergences.empty());
    EXPECT_EQ(cluster.node(id).divergences.back().verdict, Verdict::Other);
    EXPECT_EQ(cluster.node(id).divergences.back().other, ReplicaId(follower));
    EXPECT_FALSE(cluster.engine(id).status().warnings.empty());
    expect_calls_work(id);
  }
  const size_t sent = cluster.node(follower).sent.size();
  const Ticket refused = cluster.submit(follower, "add 1");
  const Ticket local = cluster.ask(follower, "total", Consistency::Local);
  cluster.pass(10s);
  EXPECT_EQ(cluster.node(follower).sent.size(), sent);  // silent
  for (const Ticket ticket : {refused, local}) {
    EXPECT_EQ(reason_of(cluster.ended(follower, ticket).status), Reason::NotReady);
    EXPECT_EQ(outcome_of(cluster.ended(follower, ticket).status), Outcome::NoEffect);
  }
}

TEST_F(DivergenceTest, AReplicaThatStepsAsideWithEntriesLeftToApplyIsIdle) {
  Cluster slow(3, [](EngineOptions& options) {
    often(options);
    options.apply_bytes_per_turn = 1;
  });
  born(slow);
  slow.node(follower).counter->skew = 1;
  for (uint64_t i = 0; i < 4 * kInterval; ++i) slow.submit(leader, "add 1");
  slow.pass(5s);
  EXPECT_EQ(slow.engine(follower).status().state, ReplicaState::Quarantine);
  EXPECT_EQ(slow.engine(follower).next_deadline(), LaggingTime::max());
}

// Covers: FLT_A08
TEST_F(DivergenceTest, ALeaderThatDivergesStepsAsideAndTheMajorityGoesOn) {
  cluster.node(leader).counter->skew = 1;
  for (uint64_t i = 0; i < kInterval; ++i) cluster.submit(follower, "add 1");
  const Ticket pending = cluster.submit(leader, "wait");
  cluster.pass(5s);
  EXPECT_EQ(state(leader), ReplicaState::Quarantine);
  EXPECT_NE(cluster.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_GE(cluster.answers(leader, pending), 1u);
  for (const uint64_t id : {follower, third}) {
    EXPECT_EQ(state(id), ReplicaState::Ready);
    expect_calls_work(id);
  }
  EXPECT_EQ(cluster.engine(follower).status().digest, cluster.engine(third).status().digest);
}

// Covers: FLT_A08
TEST_F(DivergenceTest, OfTwoTheFollowerStepsAsideAndBothSayIt) {
  Cluster two(2, often);
  two.start_all();
  const uint64_t first = two.leader();
  ASSERT_NE(first, 0u);
  const uint64_t second = 3 - first;
  ASSERT_TRUE(two.until([&] { return two.engine(second).status().state == ReplicaState::Ready; }));
  two.node(first).counter->skew = 1;  // the leader is wrong, but that cannot be known
  for (uint64_t i = 0; i < kInterval; ++i) two.submit(first, "add 1");
  two.pass(5s);
  EXPECT_EQ(two.engine(second).status().state, ReplicaState::Quarantine);
  EXPECT_NE(two.engine(first).status().state, ReplicaState::Quarantine);
  for (const uint64_t id : {first, second}) EXPECT_FALSE(two.node(id).divergences.empty()) << id;
}

TEST_F(DivergenceTest, ARestartBehindAComparisonTakesNoPartInItAndInTheNextOneAgain) {
  one_interval(leader);
  cluster.crash(follower);
  one_interval(leader);
  cluster.start(follower);
  ASSERT_TRUE(cluster.until([&] { return state(follower) == ReplicaState::Ready; }));
  cluster.node(follower).counter->skew = 1;
  one_interval(leader);
  EXPECT_EQ(state(follower), ReplicaState::Quarantine);
}

TEST_F(DivergenceTest, DigestsThatGetLostAreSentAgain) {
  cluster.node(follower).counter->skew = 1;
  size_t lost = 0;
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {
    const auto* forward = std::get_if<Forward>(&message);
    if (forward == nullptr || from.value() == leader || lost >= 4) return true;
    const auto command = decode_command(forward->commands.front().view());
    if (!command.ok() || !std::holds_alternative<DigestVote>(*command)) return true;
    ++lost;
    return false;
  };
  one_interval(leader);
  cluster.pass(5s);
  EXPECT_EQ(lost, 4u);
  EXPECT_EQ(state(follower), ReplicaState::Quarantine);
  EXPECT_EQ(cluster.node(leader).divergences.back().verdict, Verdict::Other);
}

TEST_F(DivergenceTest, NobodyVotesInTheNameOfAnother) {
  const Index before = cluster.engine(leader).applied();
  const DigestVote forged{ReplicaId(third), Index(kInterval), 99};
  cluster.post(leader, MessageReceived{ReplicaId(follower), Forward{{SharedBytes(encode(forged))}}});
  cluster.pass(1s);
  EXPECT_EQ(cluster.engine(leader).applied(), before);
}

}  // namespace
}  // namespace coordkit::engine
