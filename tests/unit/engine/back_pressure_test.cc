// Admission: one budget of bytes and one count for everything in progress, and a disk that runs full.
#include <gtest/gtest.h>

#include "coordkit/ports/store_events.h"
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

constexpr size_t kBudget = 1000;

struct BackPressureTest : ThreeReplicas {
  BackPressureTest() : ThreeReplicas(little) {}
  static void little(EngineOptions& options) {
    options.request_bytes_max = kBudget;
    options.request_bytes_in_flight_max = kBudget;
  }
  static std::string command(size_t bytes) { return "say " + std::string(bytes - 4, 'x'); }
  std::optional<Reason> reason(uint64_t id, Ticket ticket) { return reason_of(cluster.ended(id, ticket).status); }
};

// Covers: FLT_O01
TEST_F(BackPressureTest, CommandsBeyondTheBytesAreRefusedAtOnceWithoutEffect) {
  isolate(follower);
  const Ticket first = cluster.submit(follower, command(600), 5s), second = cluster.submit(follower, command(400), 5s);
  const Ticket beyond = cluster.submit(follower, command(5), 5s);
  cluster.run_until_idle();
  EXPECT_EQ(reason(follower, beyond), Reason::TooManyRequests);
  EXPECT_EQ(outcome_of(cluster.ended(follower, beyond).status), Outcome::NoEffect);
  EXPECT_EQ(cluster.answers(follower, first) + cluster.answers(follower, second), 0u);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, first) + cluster.answers(follower, second) == 2; }));
  EXPECT_EQ(cluster.run(follower, command(kBudget)), "said");  // all of it is free again
}

// Covers: FLT_O01
TEST_F(BackPressureTest, EveryWayACallEndsGivesItsBytesBack) {
  isolate(follower);
  const Ticket expires = cluster.submit(follower, command(500), 100ms);
  const Ticket forgotten = cluster.submit(follower, command(500), 5s);
  cluster.run_until_idle();
  cluster.pass(200ms);
  EXPECT_EQ(cluster.answers(follower, expires), 1u);
  cluster.post(follower, Forget{forgotten});
  const Ticket again = cluster.submit(follower, command(kBudget), 100ms);
  cluster.run_until_idle();
  EXPECT_EQ(cluster.answers(follower, again), 0u);  // taken
  cluster.pass(200ms);
  const Ticket read = cluster.ask(follower, std::string(kBudget, 'q'), Consistency::Linearizable, 100ms);
  const Ticket beyond = cluster.ask(follower, "total", Consistency::Linearizable, 100ms);
  cluster.run_until_idle();
  EXPECT_EQ(cluster.answers(follower, read), 0u);
  EXPECT_EQ(reason(follower, beyond), Reason::TooManyRequests);
  cluster.pass(200ms);
  const Ticket last = cluster.submit(follower, command(kBudget), 100ms);
  cluster.run_until_idle();
  EXPECT_EQ(cluster.answers(follower, last), 0u);
}

TEST_F(BackPressureTest, ACommandThatWaitsInTheStateNoLongerCounts) {
  const Ticket waiting = cluster.submit(follower, "wait " + std::string(kBudget - 5, 'x'), 60s);
  const Ticket beyond = cluster.submit(follower, command(5));
  cluster.run_until_idle();
  EXPECT_EQ(reason(follower, beyond), Reason::TooManyRequests);
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, waiting) == 1; }));  // queued
  EXPECT_EQ(cluster.run(follower, command(kBudget)), "said");
  EXPECT_EQ(cluster.run(leader, "wake"), "woke");
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, waiting) == 2; }));
  EXPECT_EQ(cluster.run(follower, command(kBudget)), "said");
}

// Covers: FLT_O01
TEST_F(BackPressureTest, ReservedCallsHaveAQuarterMore) {
  isolate(follower);
  cluster.submit(follower, command(kBudget), 5s);
  const Ticket reserved = cluster.submit(follower, command(kBudget / 4), 5s, Urgency::Reserved);
  const Ticket beyond = cluster.submit(follower, command(5), 5s, Urgency::Reserved);
  cluster.run_until_idle();
  EXPECT_EQ(cluster.answers(follower, reserved), 0u);
  EXPECT_EQ(reason(follower, beyond), Reason::TooManyRequests);
}

TEST_F(BackPressureTest, ABudgetBelowOneCommandIsRefused) {
  EngineOptions options{.members = {{ReplicaId(1), "a"}}, .new_cluster = ClusterId(1)};
  options.raft.self = ReplicaId(1);
  EXPECT_TRUE(options.validate().ok()) << options.validate();
  options.request_bytes_in_flight_max = options.request_bytes_max - 1;
  EXPECT_EQ(reason_of(options.validate()), Reason::InvalidArgument);
}

// Covers: FLT_P14
TEST_F(BackPressureTest, WhatWritesWaitForIsAWarningWhileTheyDo) {
  cluster.post(follower, LogWaits{make_error(Reason::LimitExceeded, "too many open files")});
  cluster.run_until_idle();
  EXPECT_EQ(cluster.engine(follower).status().warnings,
            std::vector<std::string>{"writes to the log wait: too many open files"});
  cluster.post(follower, LogWaits{absl::OkStatus()});
  cluster.run_until_idle();
  EXPECT_TRUE(cluster.engine(follower).status().warnings.empty());
}

// A store's reports arrive through StoreEvents.
// Covers: FLT_D22
TEST_F(BackPressureTest, AnErrorOfTheFileThatTheLogKeepsReadyIsAWarningUntilOneIsReady) {
  struct Reports final : StoreEvents {
    explicit Reports(std::function<void(EngineInput)> to) : to_(std::move(to)) {}
    void post_event(EngineInput input) override { to_(std::move(input)); }
    std::function<void(EngineInput)> to_;
  } reports([this](EngineInput input) { cluster.post(follower, std::move(input)), cluster.run_until_idle(); });
  static_cast<LogSink&>(reports).log_spare_fails(make_error(Reason::StorageFailed, "7.spare: input/output error"));
  const std::vector<std::string> warnings = cluster.engine(follower).status().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  for (const char* part : {"7.spare", "nothing is lost", "check this disk"}) {
    EXPECT_NE(warnings[0].find(part), std::string::npos) << warnings[0];
  }
  EXPECT_FALSE(cluster.node(follower).halted);
  static_cast<LogSink&>(reports).log_spare_fails(absl::OkStatus());
  EXPECT_TRUE(cluster.engine(follower).status().warnings.empty());
}

// Covers: FLT_D04
TEST_F(BackPressureTest, WithoutRoomNewCommandsAreRefusedAndReleasesAndReadsGoOn) {
  for (const LogSpace space : {LogSpace::Low, LogSpace::Full}) {
    cluster.post(follower, LogSpaceChanged{space});
    const Ticket refused = cluster.submit(follower, "add 1");
    cluster.run_until_idle();
    EXPECT_EQ(reason(follower, refused), Reason::NoSpace);
    EXPECT_EQ(outcome_of(cluster.ended(follower, refused).status), Outcome::NoEffect);
    EXPECT_EQ(cluster.engine(follower).status().warnings.size(), 1u);
    const Ticket release = cluster.submit(follower, "say released", 5s, Urgency::Reserved);
    ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, release) == 1; }));
    EXPECT_TRUE(cluster.ended(follower, release).status.ok());
    EXPECT_EQ(cluster.read(follower), "0");
  }
  cluster.post(follower, LogSpaceChanged{LogSpace::Ample});
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");  // without a restart
  EXPECT_TRUE(cluster.engine(follower).status().warnings.empty());
}

// Covers: FLT_D04
TEST_F(BackPressureTest, TimersStillFireOnALeaderWithoutRoom) {
  cluster.run(leader, "arm 3 1 100");
  cluster.post(leader, LogSpaceChanged{LogSpace::Low});
  cluster.pass(1s);
  EXPECT_EQ(cluster.node(follower).counter->fired().size(), 1u);
}

// ---- the operator's choice: callers wait for a voter that is behind

struct LagTest : ThreeReplicas {
  LagTest() : ThreeReplicas([](EngineOptions& options) { options.raft.follower_lag_bytes_max = 2000; }) {}
  static std::string large() { return "say " + std::string(900, 'x'); }
  void lag() {
    cluster.filter = [this](ReplicaId, ReplicaId to, const Message& message) {
      return to.value() != third || !std::holds_alternative<raft::AppendRequest>(message);
    };
    for (int i = 0; i < 3; ++i) cluster.run(leader, large());
    cluster.pass(100ms);  // a heartbeat
  }
};

// Covers: FLT_O07
TEST_F(LagTest, WhileAVoterIsTooFarBehindNewCommandsAreRefusedWithoutEffectEverywhere) {
  lag();
  for (const uint64_t id : {leader, follower}) {
    const Ticket refused = cluster.submit(id, "add 1");
    cluster.run_until_idle();
    ASSERT_EQ(cluster.answers(id, refused), 1u) << id;
    EXPECT_EQ(reason_of(cluster.ended(id, refused).status), Reason::TooManyRequests);
    EXPECT_EQ(outcome_of(cluster.ended(id, refused).status), Outcome::NoEffect);
    EXPECT_EQ(cluster.engine(id).status().warnings.size(), 1u);
    const Ticket release = cluster.submit(id, "say released", 5s, Urgency::Reserved);
    ASSERT_TRUE(cluster.until([&] { return cluster.answers(id, release) == 1; }));
    EXPECT_TRUE(cluster.ended(id, release).status.ok());
    EXPECT_EQ(cluster.read(id), "0");
  }
  cluster.filter = {};
  cluster.pass(1s);
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");
  EXPECT_TRUE(cluster.engine(leader).status().warnings.empty());
}

// Covers: FLT_O07
TEST_F(LagTest, AVoterThatIsGoneHoldsUpNoCommand) {
  lag();
  isolate(third);
  cluster.pass(2s);
  EXPECT_EQ(cluster.run(leader, large()), "said");
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");
}

}  // namespace
}  // namespace coordkit::engine
