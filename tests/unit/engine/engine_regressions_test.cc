// Rows of docs/regressions.md that need whole engines: stalled leaders, changes of leadership, clocks that disagree.
#include <gtest/gtest.h>

#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct EngineRegressionsTest : ThreeReplicas {
  uint64_t attempts = 0;

  // Timer 1 of the group of replica 9, the only one of that group.
  void arm(Cluster& of, uint64_t ms) { ASSERT_EQ(of.run(leader, "arm 1 1 " + std::to_string(ms) + " 9 1 1"), "armed"); }
  uint64_t renew(uint64_t through, uint64_t ms) {
    const TimerGroup group{ReplicaId(9), BootCounter(1), 1, std::chrono::milliseconds(ms)};
    RenewRequest request{.attempt = ++attempts, .groups = {{.group = group, .highest = TimerId(1), .count = 1}}};
    request.groups[0].sum = timer_set_hash(TimerId(1));
    cluster.post(through, Renew{std::move(request)});
    return attempts;
  }
  bool acknowledged(uint64_t at, uint64_t attempt) {
    for (const RenewReply& reply : cluster.node(at).renewals) {
      if (reply.attempt == attempt && reply.groups[0].coverage == RenewReply::Coverage::All) return true;
    }
    return false;
  }
  static size_t fired(Cluster& of, uint64_t at) { return of.node(at).counter->fired().size(); }
  uint64_t leader_besides(uint64_t previous) {
    uint64_t found = 0;
    cluster.until([&] {
      for (uint64_t id = 1; id <= 3; ++id) {
        if (id != previous && cluster.engine(id).leadership().role == raft::Role::Leader) found = id;
      }
      return found != 0;
    });
    return found;
  }
  static void expect_equal_states(Cluster& of) {
    for (uint64_t id = 2; id <= 3; ++id) {
      EXPECT_EQ(of.engine(id).applied(), of.engine(1).applied());
      EXPECT_EQ(of.node(id).counter->digest(), of.node(1).counter->digest()) << id;
    }
  }
};

// Covers: REG_F17
TEST_F(EngineRegressionsTest, ALeaderThatStalledForLongerThanATtlEndsAndAcknowledgesNothing) {
  arm(cluster, 1000);
  const uint64_t asked_before = renew(leader, 1000);
  isolate(leader);                // it wakes without news from others, and acts on its own
  for (int i = 0; i < 15; ++i) {  // no turn of the leader for three seconds, while the client renews elsewhere
    cluster.stall(leader, 200ms);
    renew(follower, 1000);
  }
  const uint64_t asked_meanwhile = renew(leader, 1000);
  for (int i = 0; i < 10; ++i) {
    cluster.pass(200ms);
    const uint64_t attempt = renew(follower, 1000);
    ASSERT_TRUE(cluster.until([&] { return acknowledged(follower, attempt); }));
  }
  EXPECT_FALSE(acknowledged(leader, asked_before));
  EXPECT_FALSE(acknowledged(leader, asked_meanwhile));
  cluster.filter = nullptr;
  cluster.pass(300ms);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(fired(cluster, id), 0u) << id;
  cluster.pass(2s);  // without renewals it does end
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(fired(cluster, id), 1u) << id;
}

// Covers: REG_F20
TEST_F(EngineRegressionsTest, ADeadSessionEndsWithinItsTtlOfTheLastChangeOfLeader) {
  arm(cluster, 1000);
  uint64_t current = leader;
  LaggingTime last{};
  for (int change = 0; change < 6; ++change) {
    isolate(current);
    const uint64_t next = leader_besides(current);
    ASSERT_NE(next, 0u);
    ASSERT_EQ(cluster.run(next, "add 1"), std::to_string(change + 1));
    last = cluster.now();
    cluster.filter = nullptr;
    cluster.pass(200ms);
    ASSERT_EQ(fired(cluster, next), 0u) << "the changes are too slow for this test";
    current = next;
  }
  ASSERT_TRUE(cluster.until([&] { return fired(cluster, current) == 1; }));
  EXPECT_EQ(cluster.engine(current).leadership().role, raft::Role::Leader);
  EXPECT_LE(cluster.now(), last + 1000ms);
}

// Covers: REG_R57 FLT_P10
TEST_F(EngineRegressionsTest, AFollowersStalledDiskCostsNoElection) {
  const Term term = cluster.engine(leader).leadership().term;
  cluster.node(follower).syncs = false;
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(cluster.run(leader, "add 1"), std::to_string(i));
    cluster.pass(100ms);
  }
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_EQ(cluster.engine(leader).leadership().term, term);
  EXPECT_EQ(cluster.engine(follower).leadership().term, term);
  cluster.node(follower).syncs = true;
  cluster.sync(follower);
  cluster.pass(200ms);
  EXPECT_EQ(cluster.node(follower).counter->total(), 50);
  EXPECT_EQ(cluster.engine(leader).leadership().term, term);
}

// Covers: REG_R57 FLT_P10
TEST_F(EngineRegressionsTest, HeartbeatsAndRenewalsWaitForNoDisk) {
  arm(cluster, 1000);
  const Term term = cluster.engine(leader).leadership().term;
  for (uint64_t id = 1; id <= 3; ++id) cluster.node(id).syncs = false;
  const Ticket waiting = cluster.submit(leader, "add 1", 1h);
  for (int i = 0; i < 25; ++i) {
    cluster.pass(200ms);
    const uint64_t attempt = renew(third, 1000);
    ASSERT_TRUE(cluster.until([&] { return acknowledged(third, attempt); }, 500ms)) << i;
  }
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_EQ(cluster.engine(leader).leadership().term, term);
  EXPECT_EQ(cluster.answers(leader, waiting), 0u);
  for (uint64_t id = 1; id <= 3; ++id) {
    cluster.node(id).syncs = true;
    cluster.sync(id);
  }
  EXPECT_TRUE(cluster.until([&] { return cluster.answers(leader, waiting) == 1; }, 200ms));
}

// Each of its turns takes a while and replays one entry, so that all of them take seconds; with another member down, the
// leader depends on its answers.
// Covers: REG_R58
TEST_F(EngineRegressionsTest, AReplicaThatReplaysAnswersAndDoesNotCampaign) {
  Cluster slow(3, [](EngineOptions& options) { options.apply_bytes_per_turn = 1; });
  born(slow);
  for (int i = 1; i <= 100; ++i) ASSERT_EQ(slow.run(leader, "add 1"), std::to_string(i));
  const Term term = slow.engine(leader).leadership().term;
  slow.crash(follower);
  slow.node(follower).turn_takes = 50ms;
  slow.start(follower);
  slow.pass(200ms);
  slow.crash(third);
  slow.pass(3s);
  EXPECT_LT(slow.node(follower).counter->total(), 100) << "the replay is too fast for this test";
  EXPECT_GT(slow.node(follower).counter->total(), 10);
  for (const raft::Leadership& known : slow.node(follower).leaderships) EXPECT_EQ(known.role, raft::Role::Follower);
  EXPECT_EQ(slow.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_EQ(slow.engine(leader).leadership().term, term);
  EXPECT_EQ(slow.run(leader, "add 1"), "101") << "it acknowledges what it has not applied yet";
  EXPECT_TRUE(slow.until([&] { return slow.node(follower).counter->total() == 101; }, 20s));
  EXPECT_EQ(slow.engine(follower).leadership().term, term);
}

// Covers: REG_R83
TEST_F(EngineRegressionsTest, AFollowersClockEndsNothingAndStatesStayEqual) {
  arm(cluster, 10'000);
  for (int i = 0; i < 5; ++i) {
    cluster.node(follower).ahead += 1h;
    cluster.pass(100ms);
  }
  EXPECT_EQ(cluster.engine(leader).leadership().role, raft::Role::Leader);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(fired(cluster, id), 0u) << id;
  expect_equal_states(cluster);
  cluster.pass(10s);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(fired(cluster, id), 1u) << id;
  expect_equal_states(cluster);
}

// The initial reading of each replica's clock does not matter: same answers, same number of timer turns.
// Covers: REG_R82 REG_F59
TEST_F(EngineRegressionsTest, ClocksMayStartAnywhere) {
  const auto history = [](Duration first, Duration second, Duration third) {
    Cluster made(3);
    made.node(1).ahead = first;
    made.node(2).ahead = second;
    made.node(3).ahead = third;
    made.start_all();
    std::vector<std::string> trace;
    const uint64_t leader = made.leader();
    trace.push_back(std::to_string(leader));
    EXPECT_EQ(made.run(leader, "arm 1 1 700 9 1 1"), "armed");
    for (int i = 0; i < 10; ++i) {
      trace.push_back(made.run(1 + static_cast<uint64_t>(i) % 3, "add 2"));
      made.pass(100ms);
      for (uint64_t id = 1; id <= 3; ++id) trace.push_back(std::to_string(fired(made, id)));
      trace.push_back(std::to_string(made.now().time_since_epoch().count()));
    }
    EXPECT_EQ(fired(made, leader), 1u);
    return trace;
  };
  const auto plain = history(0s, 0s, 0s);
  EXPECT_EQ(history(Duration((int64_t{1} << 32) - 1'200'000'000), 0s, 0s), plain);
  EXPECT_EQ(history(1h, 1000h, 24h * 365 * 200), plain);
}

// Covers: REG_F29
TEST_F(EngineRegressionsTest, ReplicasThatAreSetUpDifferentlyAgree) {
  Cluster mixed(3, [](EngineOptions& options) {
    const uint64_t id = options.raft.self.value();
    options.checkpoint_entries = id;
    options.timers_per_entry = id;
    options.apply_bytes_per_turn = 10 * id;
    options.window = 10 + id;
    options.requests_max = 100 + id;
  });
  born(mixed);
  for (uint64_t timer = 1; timer <= 10; ++timer) {
    ASSERT_EQ(mixed.run(1 + timer % 3, "arm " + std::to_string(timer) + " 1 500 9 1 1"), "armed");
  }
  mixed.pass(200ms);
  expect_equal_states(mixed);
  mixed.pass(1s);
  EXPECT_EQ(fired(mixed, leader), 10u);
  expect_equal_states(mixed);
}

// Covers: REG_F46
TEST_F(EngineRegressionsTest, RepeatedAndReorderedConnectionsEndNothing) {
  arm(cluster, 1000);
  const Term term = cluster.engine(leader).leadership().term;
  for (int i = 0; i < 40; ++i) {
    const uint64_t from = 1 + static_cast<uint64_t>(i) % 3;
    const uint64_t to = from % 3 + 1;
    cluster.post(to, PeerLost{ReplicaId(from)});
    if (i % 2 == 0) cluster.post(to, PeerLost{ReplicaId(from)});
    cluster.connect(from, to);
    if (i % 4 == 0) cluster.connect(from, to);
    cluster.pass(50ms);
    const uint64_t attempt = renew(follower, 1000);
    ASSERT_TRUE(cluster.until([&] { return acknowledged(follower, attempt); }, 500ms)) << i;
  }
  EXPECT_EQ(fired(cluster, leader), 0u);
  EXPECT_EQ(cluster.engine(leader).leadership().term, term);
  cluster.pass(1100ms);
  EXPECT_EQ(fired(cluster, leader), 1u);
  expect_equal_states(cluster);
}

}  // namespace
}  // namespace coordkit::engine
