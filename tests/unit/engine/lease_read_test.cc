// The three kinds of reads (docs/semantics.md S-10): by a round, by a lease, from the local state.
#include <gtest/gtest.h>

#include "engine/timers/suspend_meter.h"
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

constexpr Duration kElectionTimeout = raft::Options().election_timeout;

struct LeaseReadTest : ThreeReplicas {
  LeaseReadTest()
      : ThreeReplicas(
            [](EngineOptions& options) { options.raft.lease = raft::lease_of(options.raft.election_timeout, 10'000); }) {}
  void SetUp() override {
    ThreeReplicas::SetUp();
    ASSERT_EQ(cluster.run(leader, "add 3"), "3");
    cluster.pass(500ms);
  }
  bool answered_at_once(uint64_t id, Consistency consistency) {
    const Ticket read = cluster.ask(id, "total", consistency);
    cluster.one_turn(id);
    return cluster.answers(id, read) == 1;
  }
};

TEST_F(LeaseReadTest, ALeaderWithALeaseAnswersAlone) {
  EXPECT_TRUE(answered_at_once(leader, Consistency::Lease));
  EXPECT_FALSE(answered_at_once(leader, Consistency::Linearizable));
  EXPECT_FALSE(answered_at_once(follower, Consistency::Lease)) << "asks the leader";
  const Ticket read = cluster.ask(follower, "total", Consistency::Lease);
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, read) == 1; }));
  EXPECT_EQ(cluster.ended(follower, read).bytes, "3");
}

TEST_F(LeaseReadTest, WithoutContactTheLeaseEndsBeforeAnotherCanLead) {
  isolate(leader);
  cluster.pass(kElectionTimeout * 98 / 100);
  EXPECT_FALSE(answered_at_once(leader, Consistency::Lease));
}

TEST_F(LeaseReadTest, SleepCountsAgainstTheLease) {
  isolate(leader);
  ASSERT_TRUE(answered_at_once(leader, Consistency::Lease));
  cluster.node(leader).leading += kElectionTimeout;
  EXPECT_FALSE(answered_at_once(leader, Consistency::Lease));
}

// Covers: S-10
TEST_F(LeaseReadTest, ALocalReadSaysHowOldItMayBe) {
  const Ticket fresh = cluster.ask(follower, "total", Consistency::Local);
  cluster.run_until_idle();
  const Completion young = cluster.ended(follower, fresh);
  ASSERT_TRUE(young.age);
  EXPECT_LE(*young.age, kElectionTimeout);
  EXPECT_EQ(young.index, cluster.engine(follower).applied());

  isolate(follower);
  cluster.pass(10s);
  const Ticket stale = cluster.ask(follower, "total", Consistency::Local);
  cluster.run_until_idle();
  const Completion old = cluster.ended(follower, stale);
  ASSERT_TRUE(old.age);
  EXPECT_GE(*old.age, 10s);
}

// Covers: S-10
TEST_F(LeaseReadTest, ALocalReadWaitsForTheStateItDemands) {
  isolate(follower);
  ASSERT_EQ(cluster.run(leader, "add 4"), "7");
  const Index demanded = cluster.engine(leader).applied();
  const Ticket patient = cluster.ask(follower, "total", Consistency::Local, 10s, demanded);
  const Ticket impatient = cluster.ask(follower, "total", Consistency::Local, 100ms, demanded);
  cluster.pass(200ms);
  EXPECT_EQ(reason_of(cluster.ended(follower, impatient).status), Reason::CallTimeout);
  EXPECT_EQ(outcome_of(cluster.ended(follower, impatient).status), Outcome::NoEffect);
  EXPECT_EQ(cluster.answers(follower, patient), 0u);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, patient) == 1; }));
  EXPECT_EQ(cluster.ended(follower, patient).bytes, "7");
}

// ---- the gauge

TEST(SleepGaugeTest, CountsWhatWasSleptSinceAMomentAndNeverLess) {
  const auto at = [](Duration awake, Duration asleep) { return Now{LaggingTime(awake), LeadingTime(awake + asleep)}; };
  SuspendMeter gauge(100ms);
  gauge.sample(at(1000ms, 5s));
  EXPECT_EQ(gauge.since(LaggingTime(1000ms)), 0s);
  EXPECT_EQ(gauge.since(LaggingTime(999ms)), Duration::max()) << "nothing is known";
  gauge.sample(at(1050ms, 7s));
  EXPECT_EQ(gauge.since(LaggingTime(1000ms)), 2s);
  EXPECT_EQ(gauge.since(LaggingTime(1040ms)), 2s);
  gauge.sample(at(1100ms, 7s));
  EXPECT_EQ(gauge.since(LaggingTime(1100ms)), 0s);
  EXPECT_EQ(gauge.since(LaggingTime(1099ms)), 2s) << "may have come before: counted all the same";
  gauge.sample(at(1200ms, 8s));
  EXPECT_EQ(gauge.since(LaggingTime(1150ms)), 1s);
  EXPECT_EQ(gauge.since(LaggingTime(1099ms)), Duration::max());
}

}  // namespace
}  // namespace coordkit::engine
