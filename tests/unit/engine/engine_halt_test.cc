// Fail-stop: whatever breaks, every pending call ends exactly once, nothing more is sent or written, the process lives on.
#include <gtest/gtest.h>

#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

struct EngineHaltTest : ::testing::Test {
  Cluster cluster{3};
  uint64_t leader = 0, follower = 0;

  void SetUp() override {
    cluster.start_all();
    leader = cluster.leader();
    ASSERT_NE(leader, 0u);
    follower = leader % 3 + 1;
    for (uint64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(cluster.until([&] { return cluster.engine(id).status().state == ReplicaState::Ready; }));
    }
  }
  void fail_store(uint64_t id) { cluster.post(id, StoreFailed{absl::DataLossError("fsync failed")}); }
  void expect_stopped(uint64_t id) {
    cluster.pass(2s);
    EXPECT_TRUE(cluster.node(id).halted.has_value());
    EXPECT_EQ(cluster.node(id).sent_after_halt, 0u);
    EXPECT_EQ(cluster.engine(id).status().state, ReplicaState::Halted);
    EXPECT_EQ(cluster.engine(id).status().requests, 0u);
    EXPECT_NE(cluster.engine(id).leadership().role, raft::Role::Leader);
    EXPECT_EQ(cluster.engine(id).next_deadline(), LaggingTime::max());
    const Ticket late = cluster.submit(id, "add 1");
    const Ticket read = cluster.ask(id, "total", Consistency::Local);
    cluster.run_until_idle();
    for (const Ticket ticket : {late, read}) {
      EXPECT_EQ(reason_of(cluster.ended(id, ticket).status), Reason::ReplicaFailed);
      EXPECT_EQ(outcome_of(cluster.ended(id, ticket).status), Outcome::NoEffect);
    }
  }
};

TEST_F(EngineHaltTest, AFailedStoreEndsEveryCallOnceAndSaysWhatIsKnown) {
  cluster.filter = [&](ReplicaId from, ReplicaId to, const Message&) { return from.value() != leader && to.value() != leader; };
  const Ticket handed = cluster.submit(leader, "add 1");
  const Ticket read = cluster.ask(leader, "total");
  cluster.run_until_idle();
  cluster.pass(500ms);  // deposed
  const Ticket waiting = cluster.submit(leader, "add 1");
  fail_store(leader);
  cluster.run_until_idle();
  EXPECT_EQ(outcome_of(cluster.ended(leader, handed).status), Outcome::Unknown);
  EXPECT_EQ(outcome_of(cluster.ended(leader, read).status), Outcome::NoEffect);
  EXPECT_EQ(outcome_of(cluster.ended(leader, waiting).status), Outcome::NoEffect);
  for (const Ticket ticket : {handed, read, waiting}) {
    EXPECT_EQ(reason_of(cluster.ended(leader, ticket).status), Reason::ReplicaFailed);
  }
  EXPECT_EQ(cluster.node(leader).halted->code(), absl::StatusCode::kDataLoss);
  expect_stopped(leader);
}

TEST_F(EngineHaltTest, InputsOfTheSameTurnAreAnsweredOnceEach) {
  const Ticket before = cluster.submit(leader, "add 1");
  const Ticket read_before = cluster.ask(leader, "total");
  fail_store(leader);
  const Ticket after = cluster.submit(leader, "add 1");
  const Ticket read_after = cluster.ask(leader, "total");
  cluster.run_until_idle();
  for (const Ticket ticket : {before, read_before, after, read_after}) {
    EXPECT_EQ(reason_of(cluster.ended(leader, ticket).status), Reason::ReplicaFailed);
    EXPECT_EQ(outcome_of(cluster.ended(leader, ticket).status), Outcome::NoEffect);
  }
  expect_stopped(leader);
}

TEST_F(EngineHaltTest, AStoreThatDoesNotSayWhyItFailedHaltsWithASentenceAllTheSame) {
  for (const auto& [id, why] : {std::pair(leader, absl::OkStatus()), std::pair(follower, absl::InternalError(""))}) {
    cluster.post(id, StoreFailed{why});
    cluster.run_until_idle();
    ASSERT_TRUE(cluster.node(id).halted.has_value());
    EXPECT_EQ(reason_of(*cluster.node(id).halted), Reason::StorageFailed) << *cluster.node(id).halted;
    EXPECT_NE(cluster.engine(id).status().reason, "");
  }
}

TEST_F(EngineHaltTest, WhatHaltedForAnotherReasonDoesNotAccuseItsDisk) {
  cluster.node(follower).syncs = false;
  cluster.submit(leader, "add 1");
  cluster.pass(100ms);
  cluster.post(follower, StoreFailed{absl::DataLossError("the checkpoint broke")});
  cluster.pass(10s);
  cluster.submit(follower, "add 1");
  cluster.run_until_idle();
  EXPECT_EQ(cluster.engine(follower).status().state, ReplicaState::Halted);
  for (const std::string& warning : cluster.engine(follower).status().warnings)
    EXPECT_EQ(warning.find("the disk of the log"), std::string::npos) << warning;
}

TEST_F(EngineHaltTest, TheOthersGoOnWithoutIt) {
  fail_store(leader);
  cluster.run_until_idle();
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");
  EXPECT_EQ(cluster.read(follower), "1");
}

// Covers: FLT_A07
TEST_F(EngineHaltTest, AMachineThatThrowsStopsTheReplicaAtThatEntry) {
  ASSERT_EQ(cluster.run(follower, "add 1"), "1");
  const Index before = cluster.engine(follower).applied();
  cluster.node(follower).counter->throw_in_apply = true;
  const Ticket bad = cluster.submit(follower, "add 1");
  const Ticket other = cluster.submit(follower, "wait");
  cluster.pass(3s);
  EXPECT_EQ(cluster.node(follower).disk.table.applied(), Position{});
  EXPECT_EQ(cluster.engine(follower).status().applied, before);
  EXPECT_EQ(cluster.read(leader), "2");
  EXPECT_EQ(reason_of(cluster.ended(follower, bad).status), Reason::ReplicaFailed);
  EXPECT_EQ(outcome_of(cluster.ended(follower, bad).status), Outcome::Unknown);
  EXPECT_EQ(outcome_of(cluster.ended(follower, other).status), Outcome::Unknown);
  EXPECT_NE(std::string(cluster.engine(follower).status().reason).find("entries " + std::to_string(before.value() + 1)),
            std::string::npos)
      << cluster.engine(follower).status().reason;
  expect_stopped(follower);
}

// Covers: FLT_A07
TEST_F(EngineHaltTest, AQueryThatThrowsEndsNothingButItself) {
  const std::vector<Ticket> tickets = {cluster.ask(leader, "total"), cluster.ask(leader, "throw"), cluster.ask(leader, "total"),
                                       cluster.ask(leader, "total", Consistency::Local)};
  cluster.pass(1s);
  for (const Ticket ticket : tickets) EXPECT_EQ(cluster.answers(leader, ticket), 1u);
  const absl::Status refused = cluster.ended(leader, tickets[1]).status;
  EXPECT_EQ(reason_of(refused), Reason::HostThrew);
  EXPECT_EQ(outcome_of(refused), Outcome::NoEffect);
  EXPECT_EQ(cluster.node(leader).threw, std::vector{refused}) << "reported once";
  for (const size_t intact : {0, 2, 3}) EXPECT_TRUE(cluster.ended(leader, tickets[intact]).status.ok()) << intact;
  EXPECT_FALSE(cluster.node(leader).halted);
  EXPECT_EQ(cluster.run(leader, "add 1"), "1");
}

// Covers: FLT_A07
TEST_F(EngineHaltTest, AGuardThatThrowsStopsEveryReplicaAtThatEntryAndNamesIt) {
  const Index before = cluster.engine(leader).applied();
  cluster.post(leader, Submit{.ticket = Ticket(900),
                              .command = SharedBytes("add 1"),
                              .deadline = LaggingTime::max(),
                              .guard = Guard{kCoordination, "throw"}});
  cluster.pass(1s);
  EXPECT_EQ(reason_of(cluster.ended(leader, Ticket(900)).status), Reason::ReplicaFailed);
  EXPECT_EQ(outcome_of(cluster.ended(leader, Ticket(900)).status), Outcome::Unknown);
  EXPECT_NE(cluster.engine(leader).status().reason.find("entries " + std::to_string(before.value() + 1)), std::string::npos)
      << cluster.engine(leader).status().reason;
  expect_stopped(leader);
}

// Covers: FLT_A07
TEST_F(EngineHaltTest, HalfACheckpointIsNeverHandedOut) {
  Cluster eager(1, [](EngineOptions& options) { options.checkpoint_entries = 1; });
  eager.start(1);
  ASSERT_NE(eager.leader(), 0u);
  eager.pass(1s);
  const Position before = eager.node(1).disk.table.applied();
  const auto rows = eager.node(1).disk.table.rows;
  eager.node(1).counter->throw_in_checkpoint = true;
  const Ticket ticket = eager.submit(1, "add 1");
  eager.pass(1s);
  EXPECT_EQ(eager.answers(1, ticket), 1u);
  EXPECT_TRUE(eager.node(1).halted.has_value());
  EXPECT_EQ(eager.node(1).disk.table.applied(), before);
  EXPECT_EQ(eager.node(1).disk.table.rows, rows);
}

// Covers: FLT_A07
TEST_F(EngineHaltTest, ADigestThatThrowsCostsAStatusNoMoreThanTheDigest) {
  cluster.node(follower).counter->throw_in_apply = true;
  cluster.submit(leader, "add 1");
  cluster.pass(1s);
  ASSERT_TRUE(cluster.node(follower).halted);
  for (const uint64_t id : {leader, follower}) {
    cluster.node(id).counter->throw_in_digest = true;
    EngineStatus status;
    ASSERT_NO_THROW(status = cluster.engine(id).status());
    EXPECT_EQ(status.applied, cluster.engine(id).applied());
    EXPECT_EQ(status.digest, 0u);
    ASSERT_FALSE(status.warnings.empty());
    EXPECT_NE(status.warnings.back().find("the digest broke"), std::string::npos) << status.warnings.back();
  }
}

TEST_F(EngineHaltTest, AStoreThatFailsAtTheGenesisLeavesAReplicaThatIsHalted) {
  Cluster single(1);
  single.node(1).syncs = false;
  single.start(1);
  single.run_until_idle();
  const Ticket ticket = single.submit(1, "add 1");
  single.post(1, StoreFailed{absl::DataLossError("fsync failed")});
  single.post(1, LogWritten{WriteNumber(1)});  // from before, overtaken by the failure
  single.run_until_idle();
  EXPECT_EQ(outcome_of(single.ended(1, ticket).status), Outcome::NoEffect);
  EXPECT_EQ(single.engine(1).status().state, ReplicaState::Halted);
  EXPECT_EQ(single.engine(1).core(), nullptr);
  EXPECT_EQ(single.node(1).sent_after_halt, 0u);
}

// Covers: FLT_P11
TEST_F(EngineHaltTest, ADiskThatNeverAnswersIsTalkedAboutAndTheOthersGoOn) {
  cluster.node(leader).syncs = false;
  const Ticket ticket = cluster.submit(leader, "add 1", 20s);
  cluster.pass(8s);
  EXPECT_NE(cluster.engine(leader).leadership().role, raft::Role::Leader);
  ASSERT_EQ(cluster.run(follower, "add 1"), "2") << "the followers had stored the first one";
  std::vector<std::string> warnings = cluster.engine(leader).status().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("has not answered for"), std::string::npos) << warnings[0];
  for (const std::string& warning : cluster.engine(follower).status().warnings) {
    EXPECT_NE(warning.find("answers nothing"), std::string::npos) << "the new leader reports only that about it: " << warning;
  }
  cluster.node(leader).syncs = true;
  cluster.sync(leader);
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(leader, ticket) > 0; }));
  EXPECT_EQ(cluster.ended(leader, ticket).bytes, "1");
  EXPECT_TRUE(cluster.engine(leader).status().warnings.empty());
}

TEST_F(EngineHaltTest, ARestartAfterwardsLosesNothingThatWasAcknowledged) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  fail_store(leader);
  cluster.run_until_idle();
  cluster.crash(leader);
  ASSERT_EQ(cluster.run(follower, "add 1"), "2");
  cluster.start(leader);
  EXPECT_EQ(cluster.read(leader), "2");
}

}  // namespace
}  // namespace coordkit::engine
