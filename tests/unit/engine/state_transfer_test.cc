// Three replicas, one of which has missed more than the others' logs still have.
#include <algorithm>

#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct StateTransferTest : ThreeReplicas {
  Cluster made{3, [](EngineOptions& options) {
                 options.checkpoint_entries = 5;
                 options.raft.log_retained_bytes = 0;
                 options.state_chunk_bytes = 1;  // one row at a time
               }};
  void SetUp() override { born(made); }

  void isolate(uint64_t id) {
    made.filter = [id](ReplicaId from, ReplicaId to, const Message&) { return from.value() != id && to.value() != id; };
  }
  void heal() { made.filter = {}; }
  void work(int commands) {
    for (int i = 0; i < commands; ++i) made.run(leader, "add 1");
  }
  // `third` misses so much that no log still has it.
  void leave_behind(int commands = 30) {
    isolate(third);
    made.pass(5s);  // a recently heard member would find its log
    work(commands);
    ASSERT_GT(made.node(leader).disk.base.index, made.engine(third).core()->status().last.index);
  }
  // The leader remembers a later start of the disk of `third`.
  void quarantine_third() {
    RecallRequest asked;
    for (const Outbound& out : made.node(third).sent) {
      if (const auto* question = std::get_if<RecallRequest>(&out.message)) asked = *question;
    }
    made.post(third, MessageReceived{ReplicaId(leader), RecallReply{asked, {.store = asked.store, .boot = asked.boot.next()}}});
    made.run_until_idle();
    ASSERT_EQ(made.engine(third).status().state, ReplicaState::Quarantine);
  }
  bool level() {
    return made.engine(third).applied() == made.engine(leader).applied() &&
           made.engine(third).status().digest == made.engine(leader).status().digest;
  }
};

TEST_F(StateTransferTest, AMemberThatWasAwayGetsTheStateAndTheLogAfterIt) {
  leave_behind();
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_EQ(made.node(third).restored.size(), 1u);
  EXPECT_EQ(made.node(third).counter->total(), 30);
  EXPECT_EQ(made.run(third, "add 5"), "35") << "it takes part again";
  made.pass(1s);
  EXPECT_TRUE(made.engine(leader).core()->status().peers[0].match > Index(30));
  EXPECT_TRUE(made.node(leader).views.empty() || made.until([&] { return made.node(leader).views.empty(); }))
      << "the view is no longer needed";
  made.crash(third);
  made.start(third);
  ASSERT_TRUE(made.until([&] { return level(); })) << "also after a restart";
}

// They were one row, and a member that needed it waited for ever.
// Covers: S-44 INV_R20
TEST_F(StateTransferTest, AStateIsSentHoweverMuchTheAnswersOfOneOriginWeigh) {
  leave_behind();
  for (int i = 0; i < 40; ++i) made.submit(leader, "result 900000");  // kept until their origin says something again
  made.pass(100ms);
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_EQ(made.node(third).restored.size(), 1u);
  made.crash(third);
  made.start(third);
  ASSERT_TRUE(made.until([&] { return level(); })) << "also after a restart";
}

// It waited for ever, and nobody said for what.
TEST_F(StateTransferTest, ARowThatIsTooLargeToBeSentIsToldToTheOperator) {
  leave_behind();
  const std::string large(1'400'000, 'x');
  for (int i = 0; i < 20; ++i) made.submit(leader, "say " + large);  // all of it in one row of the machine's
  made.pass(100ms);
  const auto told = [&] {
    const std::vector<std::string> warnings = made.engine(leader).status().warnings;
    return std::ranges::any_of(warnings, [](const std::string& one) {
      return one.starts_with("the state cannot be sent to a member that needs it: a row of machine 1 has 28");
    });
  };
  EXPECT_FALSE(told()) << "nobody needs it yet";
  heal();
  made.pass(2s);
  EXPECT_TRUE(told());
  isolate(third);
  made.pass(10s);
  EXPECT_FALSE(told()) << "nobody asks for it any more";
}

// Covers: S-37 INV_W02
TEST_F(StateTransferTest, WhatIsObservedIsObservedInTheNewStateToo) {
  made.engine(third).observe(kCoordination, "stays", true);
  made.engine(third).observe(kCoordination, "goes", true);
  leave_behind();
  heal();
  made.engine(third).observe(kCoordination, "goes", false);
  ASSERT_TRUE(made.until([&] { return level(); }));
  ASSERT_EQ(made.node(third).restored.size(), 1u);
  EXPECT_EQ(made.node(third).counter->observed(), std::set<std::string>{"stays"});
}

// The replica's own client and its gateway of remotes.
// Covers: S-37 S-67 INV_W02
TEST_F(StateTransferTest, WhatTwoObserveIsObservedUntilBothHaveEndedIt) {
  Engine& engine = made.engine(third);
  for (const bool wanted : {true, true, false}) engine.observe(kCoordination, "both", wanted);
  EXPECT_EQ(made.node(third).counter->observed(), std::set<std::string>{"both"});
  engine.observe(kCoordination, "both", false);
  EXPECT_EQ(made.node(third).counter->observed(), std::set<std::string>());
}

// Covers: REG_R36
TEST_F(StateTransferTest, TheConfigurationComesWithItsIndex) {
  leave_behind();
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
  const raft::Status here = made.engine(third).core()->status();
  const raft::Status there = made.engine(leader).core()->status();
  EXPECT_EQ(here.configuration, there.configuration);
  EXPECT_EQ(here.configuration_index, there.configuration_index);
  EXPECT_EQ(here.configuration_index, Index(1));
}

// Covers: REG_R31
TEST_F(StateTransferTest, ACrashBetweenTheStateAndTheLogIsMadeUpFor) {
  leave_behind();
  made.node(third).syncs = false;
  made.node(third).loads = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).loading; })) << "the state is durable";
  made.crash(third);
  made.node(third).syncs = made.node(third).loads = true;
  made.start(third);
  EXPECT_GE(made.engine(third).applied(), Index(30));
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_TRUE(made.node(third).restored.empty()) << "nothing was sent again";
}

TEST_F(StateTransferTest, AStateThatIsReadyInQuarantineTakesNoPlace) {
  leave_behind();
  const Index applied = made.engine(third).applied();
  made.node(third).loads = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).loading; }));
  ASSERT_NO_FATAL_FAILURE(quarantine_third());
  made.finish_load(third);
  made.pass(1s);
  EXPECT_EQ(made.engine(third).status().state, ReplicaState::Quarantine);
  EXPECT_EQ(made.engine(third).applied(), applied);
  EXPECT_TRUE(made.node(third).restored.empty());
}

TEST_F(StateTransferTest, AStateThatIsInstalledInQuarantineIsNotBuilt) {
  leave_behind();
  made.node(third).installs = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).installing.has_value(); }));
  ASSERT_NO_FATAL_FAILURE(quarantine_third());
  made.node(third).loads = false;
  made.finish_install(third);
  made.pass(1s);
  EXPECT_FALSE(made.node(third).loading);
  EXPECT_EQ(made.engine(third).status().state, ReplicaState::Quarantine);
}

// Covers: REG_R69
TEST_F(StateTransferTest, OneInstallAtATimeAndTheNewerStateStays) {
  leave_behind();
  made.node(third).installs = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).installing.has_value(); }));
  const Position first = made.node(third).installing->at;
  work(20);  // newer states are offered meanwhile
  made.pass(30s);
  ASSERT_TRUE(made.node(third).installing);
  EXPECT_EQ(made.node(third).installing->at, first);
  made.node(third).installs = true;
  made.finish_install(third);
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_EQ(made.node(third).counter->total(), 50);
}

// Covers: REG_R72
TEST_F(StateTransferTest, ALoadOfTenMinutesSucceedsOnceAndTheLogWaitsForIt) {
  leave_behind();
  made.node(third).loads = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).loading; }));
  const size_t stages = made.node(third).stages;
  work(20);
  made.pass(10min);
  work(20);
  EXPECT_EQ(made.node(third).stages, stages) << "nothing is sent again";
  made.node(third).loads = true;
  made.finish_load(third);
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_EQ(made.node(third).restored.size(), 1u);
  EXPECT_EQ(made.node(third).stages, stages) << "what came after it was still in the log";
}

// Otherwise it would be sent one state after the other: each takes so long that by then the log behind it is long, too.
// Covers: FLT_O07
TEST_F(StateTransferTest, TheLogAfterAStateStaysUntilTheMemberHasIt) {
  leave_behind();
  made.filter = [this](ReplicaId, ReplicaId to, const Message& message) {
    const auto* append = std::get_if<raft::AppendRequest>(&message);
    return append == nullptr || to.value() != third || append->entries.empty();
  };
  ASSERT_TRUE(made.until([&] { return made.node(third).restored.size() == 1; }));
  const size_t stages = made.node(third).stages;
  for (int i = 0; i < 10; ++i) {
    work(10);
    made.pass(1s);
  }
  EXPECT_LT(made.engine(third).applied(), made.engine(leader).applied());
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_EQ(made.node(third).restored.size(), 1u);
  EXPECT_EQ(made.node(third).stages, stages);
}

// Covers: FLT_O07
TEST_F(StateTransferTest, AMemberThatIsSentAStateSaysThatItCatchesUpAndHowFarItIs) {
  leave_behind();
  made.node(third).loads = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).loading; }));
  made.pass(1s);
  const EngineStatus status = made.engine(third).status();
  EXPECT_EQ(status.state, ReplicaState::CatchingUp);
  ASSERT_TRUE(status.catch_up);
  EXPECT_EQ(status.catch_up->committed, made.engine(leader).core()->commit());
  EXPECT_EQ(status.catch_up->entries, made.engine(leader).core()->commit() - made.engine(third).applied());
  EXPECT_GT(status.catch_up->state, Index());
  EXPECT_GT(status.catch_up->state_bytes, 0u);
  EXPECT_NE(status.reason.find("being sent the state after entry"), std::string::npos) << status.reason;
  made.node(third).loads = true;
  made.finish_load(third);
  ASSERT_TRUE(made.until([&] { return made.engine(third).status().state == ReplicaState::Ready; }));
  EXPECT_FALSE(made.engine(third).status().catch_up);
}

// Covers: FLT_O07
TEST_F(StateTransferTest, SoDoesOneThatTheLogReachesTooSlowly) {
  made.filter = [this](ReplicaId, ReplicaId to, const Message& message) {
    return to.value() != third || !std::holds_alternative<raft::AppendRequest>(message);
  };
  work(10);
  EXPECT_EQ(made.engine(third).status().state, ReplicaState::Ready) << "a few messages on their way";
  made.pass(3s);
  const EngineStatus status = made.engine(third).status();
  EXPECT_EQ(status.state, ReplicaState::CatchingUp);
  ASSERT_TRUE(status.catch_up);
  EXPECT_EQ(status.catch_up->entries, 10u);
  EXPECT_EQ(status.catch_up->state, Index());
  EXPECT_NE(status.reason.find("10 entries behind the leader"), std::string::npos) << status.reason;
  heal();
  ASSERT_TRUE(made.until([&] { return made.engine(third).status().state == ReplicaState::Ready; }));
}

// Covers: FLT_O06 REG_R57
TEST_F(StateTransferTest, VotesAndHeartbeatsGoOnWhileMachinesAreBuilt) {
  leave_behind();
  made.node(third).loads = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).loading; }));
  const Term term = made.engine(leader).leadership().term;
  made.pass(1min);
  EXPECT_EQ(made.engine(leader).leadership().term, term) << "no election because of it";
  EXPECT_EQ(made.engine(third).leadership().leader, ReplicaId(leader));
  made.crash(leader);  // the two that are left need each other's votes
  ASSERT_TRUE(made.until([&] { return made.engine(follower).leadership().role == raft::Role::Leader; }));
  made.start(leader);
  made.node(third).loads = true;
  made.finish_load(third);
  leader = made.leader();
  ASSERT_TRUE(made.until([&] { return level(); }));
}

// Two of three are left, and one of them builds its machines from a state for a minute. It hears its leader and will vote for
// no other, so it counts for the leader's office and for reads. Proposals wait for its disk.
// Covers: REG_R85
TEST_F(StateTransferTest, WhoInstallsAStateForLongCountsForTheOfficeAndForNoCommit) {
  leave_behind();
  made.node(third).loads = false;
  heal();
  ASSERT_TRUE(made.until([&] { return made.node(third).loading; }));
  made.crash(follower);
  const raft::Leadership office = made.engine(leader).leadership();
  const Index commit = made.engine(leader).core()->commit();
  const Ticket write = made.submit(leader, "add 1", 1h);
  made.pass(1min);
  EXPECT_EQ(made.engine(leader).leadership(), office);
  EXPECT_EQ(made.engine(leader).core()->commit(), commit) << "it has nothing after the state on its disk";
  EXPECT_EQ(made.answers(leader, write), 0u);
  EXPECT_EQ(made.read(leader), "30") << "what was committed is read: the two of them are a majority";

  made.filter = [this](ReplicaId from, ReplicaId to, const Message&) {
    return from.value() + to.value() != leader + follower;  // the third one does not hear its leader
  };
  made.start(follower);
  made.pass(1min);
  EXPECT_EQ(made.engine(leader).leadership(), office) << "it votes for nobody while it hears its leader";
  EXPECT_EQ(made.engine(third).leadership().leader, ReplicaId(leader));
  EXPECT_EQ(made.answers(leader, write), 0u);

  made.node(third).loads = true;
  made.finish_load(third);
  ASSERT_TRUE(made.until([&] { return made.answers(leader, write) > 0; }));
  EXPECT_EQ(made.ended(leader, write).bytes, "31");
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
}

// Covers: REG_R70
TEST_F(StateTransferTest, ALaterLeadersStateReplacesTheStreamThatBrokeOffAndSendsOnlyWhatDiffers) {
  leave_behind();
  size_t chunks = 0;
  made.filter = [&](ReplicaId from, ReplicaId to, const Message& message) {
    chunks += to.value() == third && std::holds_alternative<StateChunk>(message);
    return chunks <= 2 || (from.value() != third && to.value() != third);
  };
  made.until([&] { return chunks > 2; });
  ASSERT_EQ(made.node(third).stages, 2u);
  work(20);  // the next leader's state is a different one
  made.crash(leader);
  size_t same = 0;
  made.filter = [&](ReplicaId, ReplicaId, const Message& message) {
    if (const auto* chunk = std::get_if<StateChunk>(&message)) same += chunk->rows.same;
    return true;
  };
  leader = follower;
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_GT(same, 0u) << "equal rows are not sent again";
  EXPECT_EQ(made.node(third).restored.size(), 1u);
  EXPECT_EQ(made.node(third).counter->total(), 50);
}

TEST_F(StateTransferTest, AnotherLeaderWithTheSameStateGoesOnWhereTheFirstStopped) {
  leave_behind();
  size_t chunks = 0;
  made.filter = [&](ReplicaId from, ReplicaId to, const Message& message) {
    chunks += to.value() == third && std::holds_alternative<StateChunk>(message);
    return chunks <= 2 || (from.value() != third && to.value() != third);
  };
  made.until([&] { return chunks > 2; });
  made.crash(leader);
  heal();
  leader = follower;
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_EQ(made.node(third).stages, made.node(follower).disk.table.rows.size()) << "every row once";
}

TEST_F(StateTransferTest, ARowThatChangedOnTheWayIsNotStaged) {
  leave_behind();
  int changed = 0;
  heal();
  made.filter = [&](ReplicaId from, ReplicaId, const Message& message) {
    const auto* chunk = std::get_if<StateChunk>(&message);
    if (!chunk || chunk->rows.rows.empty() || changed == 2) return true;
    ++changed;
    StateChunk other = *chunk;
    *other.rows.rows[0].value += "?";
    made.post(third, MessageReceived{from, other});
    return false;
  };
  ASSERT_TRUE(made.until([&] { return level(); }, 60s));
  EXPECT_EQ(changed, 2);
}

TEST_F(StateTransferTest, WhatIsStagedIsForgottenWhenTheLogCatchesUpAfterAll) {
  leave_behind();
  size_t chunks = 0;
  made.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    chunks += to.value() == third && std::holds_alternative<StateChunk>(message);
    return chunks <= 1 || to.value() != third;
  };
  made.until([&] { return chunks > 1; });
  ASSERT_FALSE(made.node(third).disk.table.staged.empty());
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_TRUE(made.node(third).disk.table.staged.empty());
}

// ---- regression R73: calls whose entries the state has skipped

// Covers: REG_R73
TEST_F(StateTransferTest, ACallWhoseEntryWasSkippedIsAnsweredFromTheStoredResults) {
  const Ticket ticket = made.submit(third, "add 100", 5min);
  made.filter = [&](ReplicaId from, ReplicaId to, const Message&) {  // its messages get out, and none get in
    return to.value() != third || from.value() == third;
  };
  made.until([&] { return made.node(leader).counter->total() == 100; });
  leave_behind();
  EXPECT_EQ(made.answers(third, ticket), 0u);
  heal();
  ASSERT_TRUE(made.until([&] { return made.answers(third, ticket) > 0; }));
  EXPECT_EQ(made.ended(third, ticket).bytes, "100");
}

// Covers: REG_R73
TEST_F(StateTransferTest, AQueuedCallGoesOnWaitingIfTheStateHasIt) {
  const Ticket ticket = made.submit(third, "wait", 5min);
  ASSERT_TRUE(made.until([&] { return made.answers(third, ticket) == 1; }));
  leave_behind();
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_EQ(made.answers(third, ticket), 1u);
  made.run(leader, "wake");
  ASSERT_TRUE(made.until([&] { return made.answers(third, ticket) == 2; }));
  EXPECT_EQ(made.node(third).completions[ticket].back().bytes, "woken");
}

// Covers: REG_R73
TEST_F(StateTransferTest, AQueuedCallThatWasDecidedInBetweenEndsAsUnknown) {
  const Ticket ticket = made.submit(third, "wait", 5min);
  ASSERT_TRUE(made.until([&] { return made.answers(third, ticket) == 1; }));
  isolate(third);
  made.run(leader, "wake");
  leave_behind();
  heal();
  ASSERT_TRUE(made.until([&] { return made.answers(third, ticket) == 2; }));
  const Completion& last = made.node(third).completions[ticket].back();
  EXPECT_EQ(outcome_of(last.status), Outcome::Unknown);
  EXPECT_EQ(reason_of(last.status), Reason::SequenceRetired);
}

// Covers: REG_R73
TEST_F(StateTransferTest, AReadThatWaitsForAnIndexIsReleased) {
  leave_behind();
  heal();
  const Ticket read = made.ask(third, "total", Consistency::Linearizable, 1min);
  ASSERT_TRUE(made.until([&] { return made.answers(third, read) > 0; }));
  EXPECT_EQ(made.ended(third, read).bytes, "30");
}

TEST_F(StateTransferTest, TimersGoOnFromTheInstalledState) {
  isolate(third);
  made.run(leader, "arm 7 1 60000");
  leave_behind();
  heal();
  ASSERT_TRUE(made.until([&] { return level(); }));
  made.crash(follower);
  made.crash(leader);
  made.start(follower);
  ASSERT_TRUE(made.until([&] { return made.leader() == third || made.leader() == follower; }));
  made.start(leader);
  leader = made.leader();
  ASSERT_TRUE(made.until([&] { return made.node(third).counter->fired().size() == 1; }, 3min));
}

}  // namespace
}  // namespace coordkit::engine
