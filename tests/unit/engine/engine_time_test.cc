// Timers and renewals through whole engines: which leader fires, when, and who learns that a renewal counted.
#include <gtest/gtest.h>

#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct EngineTimeTest : ThreeReplicas {
  uint64_t attempts = 0;

  // Arms timer `id` of the group of replica 9; returns when that was applied at the leader.
  LaggingTime arm(uint64_t id, uint64_t ms, bool grouped = true) {
    const std::string words = "arm " + std::to_string(id) + " 1 " + std::to_string(ms) + (grouped ? " 9 1 1" : "");
    EXPECT_EQ(cluster.run(leader, words), "armed");
    return cluster.now();
  }
  TimerGroup group(uint64_t ms) { return {ReplicaId(9), BootCounter(1), 1, std::chrono::milliseconds(ms)}; }
  uint64_t renew(uint64_t through, uint64_t ms, std::vector<uint64_t> ids) {
    RenewRequest request{.attempt = ++attempts, .groups = {{.group = group(ms), .count = ids.size()}}};
    for (const uint64_t id : ids) {
      request.groups[0].highest = TimerId(id);
      request.groups[0].sum += timer_set_hash(TimerId(id));
    }
    cluster.post(through, Renew{std::move(request)});
    return attempts;
  }
  bool acknowledged(uint64_t at, uint64_t attempt) {
    for (const RenewReply& reply : cluster.node(at).renewals) {
      if (reply.attempt == attempt) return reply.groups[0].coverage == RenewReply::Coverage::All;
    }
    return false;
  }
  bool fired(uint64_t at, uint64_t timer) {
    const auto& events = cluster.node(at).events;
    return std::find(events.begin(), events.end(), "fired " + std::to_string(timer)) != events.end();
  }
  // The moment at which the current leader has applied the end of `timer`.
  LaggingTime end_of(uint64_t at, uint64_t timer) {
    EXPECT_TRUE(cluster.until([&] { return fired(at, timer); }));
    return cluster.now();
  }
  uint64_t new_leader() {
    uint64_t found = 0;
    cluster.until([&] {
      for (const uint64_t id : {follower, third}) {
        if (cluster.engine(id).leadership().role == raft::Role::Leader) found = id;
      }
      return found != 0;
    });
    return found;
  }
  // No answers reach the leader: it stays leader for a while but cannot confirm that.
  void deafen_leader() {
    cluster.filter = [this](ReplicaId, ReplicaId to, const Message&) { return to.value() != leader; };
  }
};

// Covers: LT-2
TEST_F(EngineTimeTest, ATimerFiresItsDurationAfterItsApplyOnEveryReplica) {
  const LaggingTime armed = arm(1, 1000);
  EXPECT_EQ(end_of(leader, 1), armed + 1s);
  cluster.pass(100ms);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(cluster.node(id).counter->fired().size(), 1u) << id;
}

// Covers: LT-5
TEST_F(EngineTimeTest, ANewLeaderGivesTheFullDurationFromItsTakeover) {
  const LaggingTime armed = arm(1, 600);
  cluster.pass(500ms);
  isolate(leader);
  const uint64_t next = new_leader();
  ASSERT_NE(next, 0u);
  ASSERT_EQ(cluster.run(next, "add 1"), "1");
  const LaggingTime taken_over = cluster.now();
  ASSERT_GT(taken_over, armed + 600ms);
  EXPECT_FALSE(fired(next, 1));
  const LaggingTime ended = end_of(next, 1);
  EXPECT_GE(ended, taken_over + 550ms);
  EXPECT_LE(ended, taken_over + 600ms);
}

// Covers: LT-4
TEST_F(EngineTimeTest, AnIsolatedLeaderEndsNothing) {
  arm(1, 200);
  isolate(leader);
  cluster.pass(1s);
  EXPECT_FALSE(fired(leader, 1));
  EXPECT_EQ(cluster.node(leader).counter->armed().size(), 1u);
}

// Covers: LT-2
TEST_F(EngineTimeTest, RenewedTimersLiveAndEndTheirTtlAfterTheLastReceipt) {
  arm(1, 300);
  arm(2, 300);
  LaggingTime received{};
  for (int i = 0; i < 20; ++i) {
    cluster.pass(100ms);
    const uint64_t through = 1 + static_cast<uint64_t>(i) % 3;
    const uint64_t attempt = renew(through, 300, {1, 2});
    received = cluster.now();
    ASSERT_TRUE(cluster.until([&] { return acknowledged(through, attempt); })) << i;
  }
  EXPECT_EQ(end_of(leader, 1), received + 300ms);
  EXPECT_TRUE(fired(leader, 2));
}

// Covers: S-45
TEST_F(EngineTimeTest, ATimerYoungerThanTheSenderKnowsEnds) {
  arm(1, 300);
  const LaggingTime armed = arm(2, 300);
  for (int i = 0; i < 4; ++i) {
    cluster.pass(70ms);
    renew(follower, 300, {1});
  }
  EXPECT_EQ(end_of(leader, 2), armed + 300ms);
  EXPECT_FALSE(fired(leader, 1));
}

// Covers: LT-3
TEST_F(EngineTimeTest, ALeaderThatCannotConfirmItselfAcknowledgesNoRenewal) {
  arm(1, 5000);
  deafen_leader();
  const uint64_t attempt = renew(leader, 5000, {1});
  cluster.pass(200ms);
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_FALSE(acknowledged(leader, attempt));
  cluster.filter = nullptr;
  EXPECT_TRUE(cluster.until([&] { return acknowledged(leader, attempt); }));
}

// Covers: LT-3
TEST_F(EngineTimeTest, AnAnswerToAnEarlierRoundDoesNotConfirmALaterRenewal) {
  arm(1, 5000);
  std::vector<std::pair<ReplicaId, Message>> held;
  cluster.filter = [&](ReplicaId from, ReplicaId to, const Message& message) {
    if (to.value() != leader) return true;
    held.emplace_back(from, message);
    return false;
  };
  cluster.pass(70ms);  // a round began, its answers are in flight
  ASSERT_FALSE(held.empty());
  cluster.filter = [&](ReplicaId, ReplicaId to, const Message&) { return to.value() != leader; };
  const uint64_t attempt = renew(leader, 5000, {1});
  for (auto& [from, message] : held) cluster.post(leader, MessageReceived{from, message});
  cluster.run_until_idle();
  EXPECT_FALSE(acknowledged(leader, attempt));
}

// Covers: LT-3
TEST_F(EngineTimeTest, RenewalsUnderWayAreDroppedWhenLeadershipIsLost) {
  arm(1, 5000);
  deafen_leader();
  const uint64_t attempt = renew(leader, 5000, {1});
  cluster.pass(400ms);
  EXPECT_NE(cluster.engine(leader).leadership().role, raft::Role::Leader);
  cluster.filter = nullptr;
  cluster.pass(3s);
  EXPECT_FALSE(acknowledged(leader, attempt));
}

// Covers: LT-4
TEST_F(EngineTimeTest, BetweenProposalAndApplyOfAnEndNoRenewalIsAcknowledged) {
  arm(1, 200);
  cluster.pass(150ms);
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {  // rounds are confirmed, nothing is replicated
    return from.value() != leader || !std::holds_alternative<raft::AppendRequest>(message);
  };
  const Index before = cluster.engine(leader).core()->status().last.index;
  cluster.pass(60ms);
  ASSERT_GT(cluster.engine(leader).core()->status().last.index, before) << "the end is proposed";
  const uint64_t attempt = renew(leader, 200, {1});
  cluster.pass(100ms);
  ASSERT_EQ(cluster.node(leader).renewals.size(), 1u);
  EXPECT_EQ(cluster.node(leader).renewals[0].attempt, attempt);
  EXPECT_EQ(cluster.node(leader).renewals[0].groups[0].coverage, RenewReply::Coverage::AllExcept);
  EXPECT_EQ(cluster.node(leader).renewals[0].groups[0].listed, std::vector<TimerId>{TimerId(1)});
  cluster.filter = nullptr;
  EXPECT_TRUE(cluster.until([&] { return fired(leader, 1); }));
}

// Covers: LT-6 FLT_P12
TEST_F(EngineTimeTest, AGapInTheLeadersTurnsShiftsItsTimers) {
  const LaggingTime armed = arm(1, 100);
  cluster.stall(leader, 250ms);  // above half an election timeout, below a whole one
  ASSERT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
  cluster.run_until_idle();
  EXPECT_FALSE(fired(leader, 1)) << "its deadline passed while it could not be renewed";
  const LaggingTime ended = end_of(leader, 1);
  EXPECT_GE(ended, armed + 250ms);
  EXPECT_LE(ended, armed + 100ms + 250ms);
}

// Covers: LT-6
TEST_F(EngineTimeTest, AShortDelayShiftsNothing) {
  const LaggingTime armed = arm(1, 100);
  cluster.stall(leader, 130ms);
  cluster.run_until_idle();
  EXPECT_TRUE(fired(leader, 1));
  EXPECT_EQ(cluster.now(), armed + 130ms);
}

// Covers: LT-6
TEST_F(EngineTimeTest, AfterASuspendNothingEndsBeforeLeadershipIsConfirmedAgain) {
  arm(1, 100);
  cluster.pass(90ms);
  cluster.node(leader).leading = LeadingTime(cluster.now().time_since_epoch() + 1h);
  deafen_leader();
  const Index before = cluster.engine(leader).core()->status().last.index;
  cluster.post(leader, PeerLost{ReplicaId(77)});  // something happens, so a turn runs
  cluster.pass(100ms);
  EXPECT_EQ(cluster.engine(leader).core()->status().last.index, before) << "no end was proposed";
  cluster.filter = nullptr;
  EXPECT_TRUE(cluster.until([&] { return fired(leader, 1); }, 200ms));
}

TEST_F(EngineTimeTest, WithoutASuspendTheSameLeaderProposesTheEnd) {  // so that the test above means something
  arm(1, 100);
  cluster.pass(90ms);
  deafen_leader();
  const Index before = cluster.engine(leader).core()->status().last.index;
  cluster.pass(100ms);
  EXPECT_GT(cluster.engine(leader).core()->status().last.index, before);
}

// Covers: REG_F19
TEST_F(EngineTimeTest, AnEndThatFindsNoRoomInTheLogIsTriedAgainWithoutHurry) {
  Cluster small(1, [](EngineOptions& options) { options.raft.unsynced_bytes_max = 200; });
  small.start(1);
  ASSERT_NE(small.leader(), 0u);
  ASSERT_EQ(small.run(1, "arm 1 1 100"), "armed");
  small.node(1).syncs = false;
  small.submit(1, "add 1 " + std::string(150, ' '));
  small.pass(1s);  // a turn that is always due at once would hang the test
  EXPECT_TRUE(small.node(1).counter->fired().empty());
  small.node(1).syncs = true;
  small.sync(1);
  EXPECT_TRUE(small.until([&] { return !small.node(1).counter->fired().empty(); }, 200ms));
}

// Covers: REG_F26
TEST_F(EngineTimeTest, ThousandsOfTimersDueAtOnceAllFireInEntriesOfTheirLimit) {
  Cluster small(1, [](EngineOptions& options) { options.timers_per_entry = 10; });
  small.start(1);
  ASSERT_NE(small.leader(), 0u);
  std::vector<Ticket> tickets;
  for (int id = 1; id <= 1000; ++id) tickets.push_back(small.submit(1, "arm " + std::to_string(id) + " 1 100 9 1 1"));
  small.pass(50ms);
  ASSERT_EQ(small.node(1).counter->armed().size(), 1000u);
  const Index before = small.engine(1).applied();
  small.pass(50ms);
  EXPECT_EQ(small.node(1).counter->fired().size(), 1000u);
  EXPECT_EQ(small.engine(1).applied() - before, 100u);
}

TEST_F(EngineTimeTest, TimersOfTheCheckpointFireAfterARestart) {
  Cluster small(1, [](EngineOptions& options) { options.checkpoint_entries = 1; });
  small.start(1);
  ASSERT_NE(small.leader(), 0u);
  ASSERT_EQ(small.run(1, "arm 1 1 1000"), "armed");
  small.pass(100ms);
  small.crash(1);
  small.start(1);
  ASSERT_NE(small.leader(), 0u);
  const LaggingTime ready = small.now();
  EXPECT_TRUE(small.until([&] { return !small.node(1).counter->fired().empty(); }));
  EXPECT_GE(small.now(), ready + 950ms);
}

}  // namespace
}  // namespace coordkit::engine
