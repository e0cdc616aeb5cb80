// Commands and reads through whole engines.
#include <gtest/gtest.h>

#include <span>

#include "coordkit/engine/wire.h"
#include "engine/apply/log_command.h"
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct EngineCallsTest : ThreeReplicas {
  // Nothing goes to or from `id`.
  template <typename Kind>
  size_t sent(uint64_t id) {
    size_t count = 0;
    for (const Outbound& one : cluster.node(id).sent) count += std::holds_alternative<Kind>(one.message);
    return count;
  }
  uint64_t new_leader() {
    uint64_t found = 0;
    cluster.until([&] {
      for (const uint64_t id : {follower, third}) {
        if (cluster.node(id).engine && cluster.engine(id).leadership().role == raft::Role::Leader) found = id;
      }
      return found != 0;
    });
    return found;
  }
  void converge() {
    cluster.pass(2s);
    for (const uint64_t id : {leader, follower, third}) {
      if (!cluster.node(id).engine) continue;
      EXPECT_EQ(cluster.engine(id).applied(), cluster.engine(third).applied()) << id;
      EXPECT_EQ(cluster.engine(id).status().digest, cluster.engine(third).status().digest) << id;
    }
  }
};

// Covers: S-41
TEST_F(EngineCallsTest, CommandsRunExactlyOnceThroughLeaderAndFollower) {
  for (int i = 0; i < 30; ++i) EXPECT_EQ(cluster.run(1 + i % 3, "add 1"), std::to_string(i + 1));
  cluster.run_until_idle();
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(cluster.node(id).counter->executed().size(), 30u);
  converge();
}

TEST_F(EngineCallsTest, ACompletionSaysUnderWhichRequestAndWhere) {
  const Ticket ticket = cluster.submit(follower, "add 1");
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, ticket) > 0; }));
  const Completion completion = cluster.ended(follower, ticket);
  EXPECT_EQ(completion.request.origin.replica, ReplicaId(follower));
  EXPECT_EQ(completion.request.sequence, Sequence(1));
  EXPECT_EQ(completion.index, cluster.engine(follower).applied());
}

// Covers: S-41 FLT_N04 FLT_O05
TEST_F(EngineCallsTest, AForwardThatIsDuplicatedRunsOnce) {
  cluster.filter = [&](ReplicaId from, ReplicaId to, const Message& message) {
    if (std::holds_alternative<Forward>(message)) cluster.post(to.value(), MessageReceived{from, message});
    return true;
  };
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");
  EXPECT_EQ(cluster.run(follower, "add 1"), "2");
  converge();
}

// The network kept copies of a call's hand-over, and delivers them when the answer is not stored any more.
// Covers: REG_R89
TEST_F(EngineCallsTest, TwoCopiesOfACallAfterItsAnswerWasDroppedHaveNoEffect) {
  std::optional<Message> kept;
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {
    if (!kept && from == ReplicaId(follower) && std::holds_alternative<Forward>(message)) kept = message;
    return true;
  };
  ASSERT_EQ(cluster.run(follower, "add 1"), "1");
  ASSERT_TRUE(kept);
  ASSERT_EQ(cluster.run(follower, "add 1"), "2");
  ASSERT_EQ(cluster.run(follower, "add 1"), "3") << "which says that no earlier answer is awaited";
  const auto deliver = [&](uint64_t to, int copies) {
    for (int i = 0; i < copies; ++i) cluster.post(to, MessageReceived{ReplicaId(follower), *kept});
    cluster.run_until_idle();
  };
  deliver(leader, 1);
  deliver(leader, 2);
  EXPECT_EQ(cluster.node(leader).counter->total(), 3);
  cluster.crash(leader);
  const uint64_t next = new_leader();
  ASSERT_NE(next, 0u);
  deliver(next, 2);
  EXPECT_EQ(cluster.run(follower, "add 1"), "4");
  EXPECT_EQ(cluster.node(next).counter->executed().size(), 4u);
  cluster.start(leader);
  converge();
}

// A replica that is behind for long: it waits longer each time, and its copies are not entries (a burst of them once made
// a log that grew faster than it could be sent).
// Covers: FLT_O05
TEST_F(EngineCallsTest, WhatIsHandedOverAgainEntersTheLogOnce) {
  cluster.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    return to != ReplicaId(follower) || !std::holds_alternative<raft::AppendRequest>(message);
  };
  const Index before = cluster.engine(leader).applied();
  const Ticket ticket = cluster.submit(follower, "add 1", 600s);
  cluster.pass(60s);
  EXPECT_EQ(cluster.answers(follower, ticket), 0u);
  EXPECT_GT(sent<Forward>(follower), 1u);
  EXPECT_LT(sent<Forward>(follower), 16u) << "60 s are hundreds of election timeouts";
  EXPECT_EQ(cluster.engine(leader).applied(), before.next());
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, ticket) > 0; }));
  EXPECT_EQ(cluster.ended(follower, ticket).bytes, "1");
  converge();
}

// As many at once as once made 327,730 entries of 10,000, and 137,093 of 65,000.
struct BurstTest : EngineCallsTest, ::testing::WithParamInterface<size_t> {};

// Covers: FLT_O05
TEST_P(BurstTest, AtAReplicaThatIsBehindItMakesAsManyEntriesAsCalls) {
  cluster.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    return to != ReplicaId(follower) || !std::holds_alternative<raft::AppendRequest>(message);
  };
  const uint64_t before = cluster.engine(leader).applied().value();
  std::vector<Ticket> calls;
  for (size_t call = 0; call < GetParam(); ++call) calls.push_back(cluster.submit(follower, "add 1", 600s));
  cluster.pass(30s);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, calls.back()) > 0; }, 300s));
  converge();
  for (const Ticket call : calls) ASSERT_TRUE(cluster.ended(follower, call).status.ok());
  EXPECT_EQ(cluster.node(leader).counter->executed().size(), GetParam());
  EXPECT_LE(cluster.engine(leader).applied().value(), before + GetParam() + 3) << "digests are compared once, if at all";
}

INSTANTIATE_TEST_SUITE_P(Calls, BurstTest, ::testing::Values(10'000, 65'000),
                         [](const auto& one) { return std::to_string(one.param); });

// Covers: REG_R77
TEST_F(EngineCallsTest, AForwardThatIsLostIsHandedOverAgain) {
  int lost = 0;
  cluster.filter = [&](ReplicaId, ReplicaId, const Message& message) {
    return !std::holds_alternative<Forward>(message) || ++lost > 2;
  };
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");
  EXPECT_EQ(lost, 3);
}

// Covers: S-41
TEST_F(EngineCallsTest, LosingTheLeaderInTheMiddleLosesAndDoublesNothing) {
  // The leader has it in its own log only.
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {
    return from.value() != leader || !std::holds_alternative<raft::AppendRequest>(message);
  };
  const Ticket ticket = cluster.submit(follower, "add 1");
  cluster.run_until_idle();
  EXPECT_EQ(cluster.answers(follower, ticket), 0u);
  cluster.crash(leader);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, ticket) > 0; }));
  EXPECT_EQ(cluster.ended(follower, ticket).bytes, "1");
  cluster.start(leader);
  EXPECT_EQ(cluster.run(follower, "add 1"), "2");
  converge();
}

// Covers: S-41
TEST_F(EngineCallsTest, LosingTheLeaderAfterTheCommitDoublesNothing) {
  // The others have it, but the asking follower has not learned that yet.
  cluster.filter = [&](ReplicaId from, ReplicaId to, const Message&) {
    return !(from.value() == leader && to.value() == follower);
  };
  const Ticket ticket = cluster.submit(follower, "add 1");
  cluster.run_until_idle();
  ASSERT_EQ(cluster.node(third).counter->total(), 1);
  EXPECT_EQ(cluster.answers(follower, ticket), 0u);
  cluster.crash(leader);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, ticket) > 0; }));
  EXPECT_EQ(cluster.ended(follower, ticket).bytes, "1");
  EXPECT_EQ(cluster.node(third).counter->total(), 1);
}

TEST_F(EngineCallsTest, ADeposedLeadersOwnCallsGoToTheNewOne) {
  isolate(leader);
  const Ticket ticket = cluster.submit(leader, "add 1");
  cluster.run_until_idle();
  ASSERT_NE(new_leader(), 0u);
  ASSERT_EQ(cluster.run(new_leader(), "add 10"), "10");
  EXPECT_EQ(cluster.answers(leader, ticket), 0u);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(leader, ticket) > 0; }));
  EXPECT_EQ(cluster.ended(leader, ticket).bytes, "11");
  converge();
}

// Covers: FLT_A04
TEST_F(EngineCallsTest, WithoutAQuorumACallEndsAtItsDeadlineWithUnknownOutcome) {
  isolate(leader);
  const Ticket handed = cluster.submit(leader, "add 1", 1s);
  cluster.pass(700ms);  // leadership is lost
  const Ticket not_handed = cluster.submit(leader, "add 1", 300ms);
  cluster.pass(1s);
  EXPECT_EQ(outcome_of(cluster.ended(leader, handed).status), Outcome::Unknown);
  EXPECT_EQ(reason_of(cluster.ended(leader, handed).status), Reason::CallTimeout);
  EXPECT_EQ(outcome_of(cluster.ended(leader, not_handed).status), Outcome::NoEffect);
  EXPECT_EQ(reason_of(cluster.ended(leader, not_handed).status), Reason::NoLeader);
}

// Covers: S-43
TEST_F(EngineCallsTest, AWaiterIsToldQueuedThenItsFinalAnswer) {
  const Ticket waiting = cluster.submit(follower, "wait");
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, waiting) == 1; }));
  EXPECT_EQ(cluster.node(follower).completions[waiting][0].stage, ApplyOutput::Stage::Queued);
  EXPECT_EQ(cluster.run(third, "wake"), "woke");
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, waiting) == 2; }));
  EXPECT_EQ(cluster.node(follower).completions[waiting][1].stage, ApplyOutput::Stage::Final);
  EXPECT_EQ(cluster.node(follower).completions[waiting][1].bytes, "woken");
}

TEST_F(EngineCallsTest, AForgottenCallIsNotCompletedButItsCommandRuns) {
  const Ticket ticket = cluster.submit(follower, "add 1");
  cluster.post(follower, Forget{ticket});
  const Ticket later = cluster.submit(follower, "add 1");
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, later) > 0; }));
  EXPECT_EQ(cluster.answers(follower, ticket), 0u);
  for (const Consistency consistency : {Consistency::Local, Consistency::Linearizable}) {
    const Ticket question = cluster.ask(follower, "total", consistency);
    cluster.post(follower, Forget{question});
    cluster.pass(1s);
    EXPECT_EQ(cluster.answers(follower, question), 0u);
  }
}

// Covers: FLT_O01
TEST_F(EngineCallsTest, LimitsCountCommandsAndReadsTogetherAndReleasesPass) {
  Cluster small(1, [](EngineOptions& options) { options.requests_max = 2; });
  small.start(1);
  std::vector<Ticket> tickets = {small.submit(1, "add 1"), small.ask(1, "total"), small.submit(1, "add 1"),
                                 small.ask(1, "total"), small.submit(1, "add 1", 5s, Urgency::Reserved)};
  ASSERT_NE(small.leader(), 0u);
  small.pass(1s);
  for (const size_t refused : {2, 3}) {
    EXPECT_EQ(reason_of(small.ended(1, tickets[refused]).status), Reason::TooManyRequests);
    EXPECT_EQ(outcome_of(small.ended(1, tickets[refused]).status), Outcome::NoEffect);
  }
  for (const size_t taken : {0, 1, 4}) EXPECT_TRUE(small.ended(1, tickets[taken]).status.ok()) << taken;
  EXPECT_EQ(small.engine(1).status().requests, 0u);
}

TEST_F(EngineCallsTest, WhatNeverFoundRoomInTheLogHadNoEffect) {
  Cluster small(1, [](EngineOptions& options) { options.raft.unsynced_bytes_max = 200; });
  small.start(1);
  ASSERT_NE(small.leader(), 0u);
  small.node(1).syncs = false;
  const Ticket fits = small.submit(1, "add 1 " + std::string(100, ' '), 1s);
  small.run_until_idle();
  const Ticket refused = small.submit(1, "add 1 " + std::string(100, ' '), 1s);
  small.pass(2s);
  EXPECT_EQ(outcome_of(small.ended(1, fits).status), Outcome::Unknown);
  EXPECT_EQ(outcome_of(small.ended(1, refused).status), Outcome::NoEffect);
  small.node(1).syncs = true;
  small.sync(1);
  EXPECT_EQ(small.read(1), "1");
}

// As many remotes as there are may have spoken since the last turn of their gateway.
TEST_F(EngineCallsTest, CommandsOfRemotesAreForwardedInMessagesThatCanBeEncoded) {
  const auto command = [](SharedBytes bytes) { return Relay::Command{std::move(bytes), {{}, Sequence(1)}}; };
  Relay relay{std::vector<Relay::Command>(kForwardCommandsMax + 1, command(SharedBytes("x")))};
  const SharedBytes large(std::string(400'000, 'x'));
  for (int i = 0; i < 100; ++i) relay.commands.push_back(command(large));
  const size_t relayed = relay.commands.size();
  cluster.filter = [](ReplicaId, ReplicaId, const Message& message) { return !std::holds_alternative<Forward>(message); };
  const size_t before = cluster.node(follower).sent.size();
  cluster.post(follower, std::move(relay));
  cluster.run_until_idle();
  size_t seen = 0;
  for (const Outbound& one : std::span(cluster.node(follower).sent).subspan(before)) {
    const auto* forward = std::get_if<Forward>(&one.message);
    if (!forward) continue;
    EXPECT_LE(coordkit::encode(one.message).size(), kMessageBytesMax);
    seen += forward->commands.size();
  }
  EXPECT_EQ(seen, relayed);
}

TEST_F(EngineCallsTest, LargeCallsAreForwardedInSeveralMessages) {
  const std::string large(400'000, ' ');
  std::vector<Ticket> tickets;
  for (int i = 0; i < 10; ++i) tickets.push_back(cluster.submit(follower, "add 1" + large));
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, tickets.back()) > 0; }));
  for (const Ticket ticket : tickets) EXPECT_TRUE(cluster.ended(follower, ticket).status.ok());
  size_t seen = 0;
  for (const Outbound& one : cluster.node(follower).sent) {
    const auto* forward = std::get_if<Forward>(&one.message);
    if (!forward) continue;
    size_t bytes = 0;
    for (const SharedBytes& command : forward->commands) bytes += command.size();
    EXPECT_LE(bytes, size_t{1} << 20);
    EXPECT_FALSE(forward->commands.empty());
    ++seen;
  }
  EXPECT_GE(seen, 5u);
}

// Covers: LT-4
TEST_F(EngineCallsTest, AFollowersWordThatATimerFiredIsNotAppended) {
  ASSERT_EQ(cluster.run(leader, "arm 1 1 60000"), "armed");
  const Index last = cluster.engine(leader).core()->status().last.index;
  FireTimers fired{cluster.engine(leader).leadership().term, kCoordination, {{TimerId(1), Generation(1)}}};
  cluster.post(leader, MessageReceived{ReplicaId(follower), Forward{{SharedBytes(encode(fired)), SharedBytes("garbage")}}});
  cluster.run_until_idle();
  EXPECT_EQ(cluster.engine(leader).core()->status().last.index, last);
  EXPECT_TRUE(cluster.node(leader).counter->fired().empty());
}

TEST_F(EngineCallsTest, EventsReachEveryReplica) {
  ASSERT_EQ(cluster.run(follower, "say hello"), "said");
  cluster.pass(1s);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(cluster.node(id).events, std::vector<std::string>{"hello"});
}

// ---- reads

TEST_F(EngineCallsTest, AReadOnAnyReplicaSeesEveryAcknowledgedWrite) {
  for (int i = 1; i <= 12; ++i) {
    ASSERT_EQ(cluster.run(1 + i % 3, "add 1"), std::to_string(i));
    ASSERT_EQ(cluster.read(1 + (i + 1) % 3), std::to_string(i));
  }
}

// Covers: REG_R62
TEST_F(EngineCallsTest, AnIsolatedLeaderAnswersNoRead) {
  isolate(leader);
  const Ticket read = cluster.ask(leader, "total", Consistency::Linearizable, 2s);
  ASSERT_NE(new_leader(), 0u);
  ASSERT_EQ(cluster.run(new_leader(), "add 1"), "1");
  cluster.pass(2s);
  const Completion completion = cluster.ended(leader, read);
  EXPECT_EQ(reason_of(completion.status), Reason::NoLeader);
  EXPECT_EQ(outcome_of(completion.status), Outcome::NoEffect);
}

// Covers: REG_R59
TEST_F(EngineCallsTest, ANewLeaderAnswersNoReadBeforeItsFirstEntryIsCommitted) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  cluster.crash(leader);
  cluster.filter = [](ReplicaId, ReplicaId, const Message& message) {
    return !std::holds_alternative<raft::AppendRequest>(message);
  };
  const uint64_t next = new_leader();
  ASSERT_NE(next, 0u);
  const Ticket read = cluster.ask(next, "total", Consistency::Linearizable, 10s);
  cluster.pass(200ms);
  EXPECT_EQ(cluster.answers(next, read), 0u);
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(next, read) > 0; }));
  EXPECT_EQ(cluster.ended(next, read).bytes, "1");
}

// Covers: REG_R64
TEST_F(EngineCallsTest, AFollowersReadSurvivesLostQuestionsAndAnswers) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  int questions = 0, answers = 0;
  cluster.filter = [&](ReplicaId, ReplicaId, const Message& message) {
    if (std::holds_alternative<ReadIndexRequest>(message)) return ++questions % 2 == 0;
    return !std::holds_alternative<ReadIndexReply>(message) || ++answers % 3 == 0;
  };
  const Ticket read = cluster.ask(follower, "total", Consistency::Linearizable, 1min);
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, read) > 0; }, 1min));
  EXPECT_EQ(cluster.ended(follower, read).bytes, "1");
  EXPECT_EQ(questions, 6);
}

TEST_F(EngineCallsTest, AReadSurvivesAChangeOfLeader) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  isolate(leader);
  const Ticket read = cluster.ask(leader, "total", Consistency::Linearizable, 1min);
  ASSERT_NE(new_leader(), 0u);
  ASSERT_EQ(cluster.run(new_leader(), "add 1"), "2");
  cluster.filter = nullptr;
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(leader, read) > 0; }));
  EXPECT_EQ(cluster.ended(leader, read).bytes, "2");
}

TEST_F(EngineCallsTest, ALocalReadIsAnsweredAtOnceEvenWithoutALeader) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  cluster.pass(1s);
  isolate(follower);
  cluster.pass(2s);
  ASSERT_EQ(cluster.run(leader, "add 1"), "2");
  const Ticket read = cluster.ask(follower, "total", Consistency::Local);
  cluster.run_until_idle();
  EXPECT_EQ(cluster.ended(follower, read).bytes, "1");
  EXPECT_EQ(cluster.ended(follower, read).index, cluster.engine(follower).applied());
}

TEST_F(EngineCallsTest, ALocalReadBeforeGenesisIsNotReady) {
  Cluster blank(3);
  blank.start(1);
  const Ticket read = blank.ask(1, "total", Consistency::Local);
  blank.run_until_idle();
  EXPECT_EQ(reason_of(blank.ended(1, read).status), Reason::NotReady);
}

TEST_F(EngineCallsTest, AMalformedOrMisdirectedReadIsRefused) {
  EXPECT_NE(cluster.read(follower, "nonsense").find("InvalidArgument"), std::string::npos);
  cluster.post(follower, Ask{.ticket = Ticket(999), .machine = MachineId(9), .deadline = cluster.now() + 1s});
  cluster.run_until_idle();
  EXPECT_EQ(reason_of(cluster.ended(follower, Ticket(999)).status), Reason::Unsupported);
}

TEST_F(EngineCallsTest, ManyReadsAtOnceCostOneQuestion) {
  const size_t before = sent<ReadIndexRequest>(follower);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 100; ++i) tickets.push_back(cluster.ask(follower, "total"));
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(follower, tickets.back()) > 0; }));
  EXPECT_EQ(sent<ReadIndexRequest>(follower), before + 1);
}

// ---- the one rule that orders I/O

// Covers: REG_R17
TEST_F(EngineCallsTest, AFollowerAcknowledgesNothingBeforeItIsDurable) {
  cluster.filter = [&](ReplicaId, ReplicaId to, const Message&) { return to.value() != third; };
  cluster.node(follower).syncs = false;
  const Ticket ticket = cluster.submit(leader, "add 1");
  cluster.pass(100ms);
  const Index wanted = cluster.engine(leader).core()->status().last.index;
  const auto best_match = [&] {
    Index best;
    for (const Outbound& one : cluster.node(follower).sent) {
      if (const auto* reply = std::get_if<raft::AppendReply>(&one.message)) best = std::max(best, reply->match);
      if (const auto* reply = std::get_if<raft::HeartbeatReply>(&one.message)) best = std::max(best, reply->match);
    }
    return best;
  };
  EXPECT_FALSE(cluster.node(follower).pending.empty());
  EXPECT_LT(best_match(), wanted);
  EXPECT_EQ(cluster.answers(leader, ticket), 0u);
  cluster.sync(follower);
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(leader, ticket) > 0; }));
  EXPECT_GE(best_match(), wanted);
}

// Covers: REG_R17
TEST_F(EngineCallsTest, AVoteLeavesOnlyWhenItIsDurable) {
  cluster.node(follower).syncs = cluster.node(third).syncs = false;
  cluster.crash(leader);
  const auto granted = [&](uint64_t id) {
    for (const Outbound& one : cluster.node(id).sent) {
      const auto* reply = std::get_if<raft::VoteReply>(&one.message);
      if (reply && reply->kind == raft::VoteKind::Real && reply->granted == raft::Answer::Yes) return true;
    }
    return false;
  };
  cluster.node(follower).sent.clear();
  cluster.node(third).sent.clear();
  cluster.pass(2s);
  EXPECT_FALSE(granted(follower) || granted(third));
  EXPECT_EQ(new_leader(), 0u);
  cluster.node(follower).syncs = cluster.node(third).syncs = true;
  cluster.sync(follower);
  cluster.sync(third);
  EXPECT_NE(new_leader(), 0u);
  EXPECT_TRUE(granted(follower) || granted(third));
}

TEST_F(EngineCallsTest, TheLeadersAppendsDoNotWaitForItsOwnDisk) {
  cluster.node(leader).syncs = false;
  EXPECT_EQ(cluster.run(leader, "add 1"), "1");  // committed by the followers alone
  EXPECT_FALSE(cluster.node(leader).pending.empty());
}

TEST_F(EngineCallsTest, ACheckpointWaitsForTheOwnLog) {
  Cluster eager(3, [](EngineOptions& options) { options.checkpoint_entries = 1; });
  eager.start_all();
  const uint64_t first = eager.leader();
  ASSERT_NE(first, 0u);
  eager.pass(200ms);
  const size_t before = eager.node(first).checkpoints_taken;
  eager.node(first).syncs = false;
  ASSERT_EQ(eager.run(first, "add 1"), "1");
  EXPECT_EQ(eager.node(first).checkpoints_taken, before);
  eager.node(first).syncs = true;
  eager.sync(first);
  eager.pass(200ms);
  EXPECT_GT(eager.node(first).checkpoints_taken, before);
}

// Commits come from the two quick disks, so under load this one is never level with what it has applied. Its log grew until the
// disk was full, and then waited for a checkpoint that waited for the log.
// Covers: FLT_P10
TEST_F(EngineCallsTest, AReplicaWhoseDiskIsAlwaysAWriteBehindTakesCheckpoints) {
  Cluster eager(3, [](EngineOptions& options) {
    options.checkpoint_entries = 5;
    options.raft.log_retained_bytes = 0;
  });
  eager.start_all();
  const uint64_t first = eager.leader();
  ASSERT_NE(first, 0u);
  Cluster::Node& slow = eager.node(first % 3 + 1);
  slow.syncs = false;
  const size_t before = slow.checkpoints_taken;
  for (int i = 1; i <= 30; ++i) {
    ASSERT_EQ(eager.run(first, "add 1"), std::to_string(i));
    ASSERT_TRUE(eager.until([&] { return slow.engine->applied() == eager.engine(first).applied(); }));
    ASSERT_FALSE(slow.pending.empty());
    LogWrite newest = std::move(slow.pending.back());
    slow.pending.pop_back();
    eager.sync(slow.id.value());
    slow.pending.push_front(std::move(newest));
    eager.run_until_idle();
    ASSERT_GT(slow.engine->applied(), slow.engine->core()->durable());
    ASSERT_LE(slow.disk.table.applied().index, slow.engine->core()->durable());
  }
  EXPECT_GT(slow.checkpoints_taken, before + 3);
  EXPECT_GT(slow.disk.base.index, Index(15)) << "and its log is compacted behind them";
}

TEST_F(EngineCallsTest, OneCheckpointIsUnderWayAtATime) {
  Cluster eager(1, [](EngineOptions& options) { options.checkpoint_entries = 1; });
  eager.start(1);
  ASSERT_NE(eager.leader(), 0u);
  eager.node(1).checkpoints = false;
  const size_t before = eager.node(1).checkpoints_taken;
  for (int i = 1; i <= 5; ++i) ASSERT_EQ(eager.run(1, "add 1"), std::to_string(i));
  EXPECT_EQ(eager.node(1).checkpoints_taken, before + 1);
}

TEST_F(EngineCallsTest, TheLogIsCompactedBehindTheCheckpoint) {
  Cluster eager(3, [](EngineOptions& options) { options.checkpoint_entries = 5; });
  eager.start_all();
  ASSERT_NE(eager.leader(), 0u);
  for (int i = 0; i < 30; ++i) ASSERT_EQ(eager.run(1, "add 1"), std::to_string(i + 1));
  eager.pass(1s);
  for (uint64_t id = 1; id <= 3; ++id) {
    const Disk& disk = eager.node(id).disk;
    EXPECT_GT(disk.base.index, Index(15)) << id;
    EXPECT_LE(disk.base.index, disk.table.applied().index) << id;
  }
}

}  // namespace
}  // namespace coordkit::engine
