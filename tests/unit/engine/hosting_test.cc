// Several machines in one log: when a machine begins, who must host it, and commands that run only under a guard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/check.h"
#include "base/random.h"
#include "coordkit/engine/engine.h"
#include "coordkit/engine/state_transfer.h"
#include "coordkit/error.h"
#include "tests/unit/engine/router_rig.h"

namespace coordkit::engine {
namespace {

// Met by the counter of coordkit's own machine from this total on.
Request::GuardView at_least(std::string_view total) { return {kCoordination, total}; }

struct HostingTest : ::testing::Test {
  Rig rig;
  Table table;
  void SetUp() override { rig.enroll(kOne); }
  const Table& checkpoint() {
    CheckpointBatch batch;
    rig.router->checkpoint(batch);
    table.commit(batch);
    return table;
  }
};

// Covers: S-60
TEST_F(HostingTest, AMachineIsFoundedRightBeforeItsFirstCommandAndOnce) {
  EXPECT_EQ(rig.counter(kSecond).cluster(), ClusterId());
  rig.ask(kOne, 1, "add 1", 1, kSecond);
  EXPECT_EQ(rig.counter(kSecond).cluster(), ClusterId(5));
  rig.ask(kOne, 2, "add 1", 1, kSecond);
  EXPECT_EQ(rig.counter(kSecond).founded(), 1u);
}

// Covers: FLT_A07
TEST_F(HostingTest, WhateverAMachineOfTheHostThrowsSaysWhichOneItWas) {
  constexpr MachineId kHosts = kFirstHostMachine;
  Rig own(false, {kCoordination, kHosts});
  own.add(raft::EntryKind::Genesis, coordkit::encode(genesis()));
  own.enroll(kOne);
  Counter& counter = own.counter(kHosts);
  const auto thrown = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const MachineThrew& threw) {
      return threw.what();
    }
    return "";
  };
  counter.throw_in_bootstrap = true;
  EXPECT_THAT(thrown([&] { own.ask(kOne, 1, "add 1", 1, kHosts); }),
              ::testing::AllOf(::testing::HasSubstr("machine 16"), ::testing::HasSubstr("the bootstrap broke")));

  Rig begun(false, {kCoordination, kHosts});
  begun.add(raft::EntryKind::Genesis, coordkit::encode(genesis()));
  begun.enroll(kOne);
  begun.ask(kOne, 1, "add 1", 1, kHosts);
  Counter& working = begun.counter(kHosts);
  working.throw_in_checkpoint = working.throw_in_digest = working.throw_in_queued_results = true;
  CheckpointBatch batch;
  const std::vector<std::string> sentences = {
      thrown([&] { begun.router->checkpoint(batch); }), thrown([&] { begun.router->whole_checkpoint(batch).IgnoreError(); }),
      thrown([&] { begun.router->digest(); }),
      thrown([&] { begun.router->queued_results(kHosts, {}, [](const ApplyOutput::Result&) {}); })};
  for (const std::string& one : sentences) {
    EXPECT_THAT(one, ::testing::HasSubstr("machine 16 threw after entry 3: the ")) << &one - sentences.data();
  }
}

// Covers: S-60
TEST_F(HostingTest, ACommandThatDoesNotRunDoesNotBeginAMachine) {
  EXPECT_EQ(rig.ask(kTwo, 1, "add 1", 1, kSecond).refused, Reason::UnknownOrigin);
  EXPECT_EQ(rig.ask(kOne, 1, "add 1", 1, kSecond, at_least("1")).refused, Reason::Fenced);
  EXPECT_EQ(rig.counter(kSecond).cluster(), ClusterId());
}

// A machine without any command is not part of the state: replicas may get it one after the other.
// Covers: S-60
TEST_F(HostingTest, AMachineWithoutCommandsLeavesNoTrace) {
  Rig without(false, {kCoordination});
  without.add(raft::EntryKind::Genesis, coordkit::encode(genesis()));
  without.enroll(kOne);
  rig.ask(kOne, 1, "add 1");
  without.ask(kOne, 1, "add 1");
  EXPECT_EQ(without.router->digest(), rig.router->digest());
  CheckpointBatch left, right;
  rig.router->checkpoint(left);
  without.router->checkpoint(right);
  EXPECT_EQ(right.rows, left.rows);
}

// Covers: S-60
TEST_F(HostingTest, AMachineThatIsNewAtARestartStartsBlankAtItsFirstCommand) {
  rig.ask(kOne, 1, "add 1");
  Rig grown(false);
  ASSERT_TRUE(grown.router->restore(checkpoint()).ok());
  EXPECT_EQ(grown.ask(kOne, 2, "add 3", 1, kSecond).bytes, "3");
  EXPECT_EQ(grown.counter(kSecond).founded(), 1u);
}

// Covers: S-60
TEST_F(HostingTest, ARestoredMachineIsNotFoundedAgain) {
  rig.ask(kOne, 1, "add 1", 1, kSecond);
  Rig again(false);
  ASSERT_TRUE(again.router->restore(checkpoint()).ok());
  EXPECT_EQ(again.ask(kOne, 2, "add 1", 1, kSecond).bytes, "2");
  EXPECT_EQ(again.counter(kSecond).founded(), 0u);
}

// Covers: S-60
TEST_F(HostingTest, ACheckpointOfAMachineThatIsNotHostedIsRefused) {
  rig.ask(kOne, 1, "add 1", 1, kSecond);
  const absl::Status status = Rig(false, {kCoordination}).router->restore(checkpoint());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("machine 2"), std::string_view::npos) << status;
}

// Covers: FLT_A07
TEST_F(HostingTest, AMachineThatThrowsAtItsRowsIsNamed) {
  rig.ask(kOne, 1, "add 1", 1, kSecond);
  Rig broken(false);
  broken.counter(kSecond).in_restore = [] { throw std::runtime_error("the restore broke"); };
  const absl::Status status = broken.router->restore(checkpoint());
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("machine 2 cannot read its rows of the state, and threw: the restore broke"),
            std::string_view::npos)
      << status;

  broken.counter(kSecond).in_restore = [] { throw 7; };
  const absl::Status unknown = broken.router->restore(checkpoint());
  EXPECT_EQ(reason_of(unknown), Reason::HostThrew) << "which says nothing about the disk";
  EXPECT_NE(unknown.message().find("machine 2"), std::string_view::npos) << unknown;
}

class BreaksBesideEntries final : public StateMachine {
 public:
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command>, ApplyOutput&) override {}
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return std::string(); }
  void observe(std::string_view, bool) override { throw std::runtime_error("the observing broke"); }
  void checkpoint(CheckpointBatch&) override {}
  absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
  void timers(std::vector<TimerOp>&) const override { throw std::runtime_error("the timers broke"); }
  uint64_t digest() const override { return 0; }
};

// It was taken for damage: a start was refused as Corrupt, and a peer's state was fetched again and again.
// Covers: FLT_A07
TEST_F(HostingTest, AMachineThatThrowsAtItsTimersIsNamedAndItsRowsAreNotBlamed) {
  constexpr MachineId kHosts = kFirstHostMachine;
  Rig begun(false, {kCoordination, kHosts});
  begun.add(raft::EntryKind::Genesis, coordkit::encode(genesis()));
  begun.enroll(kOne);
  begun.ask(kOne, 1, "add 1", 1, kHosts);
  CheckpointBatch batch;
  begun.router->checkpoint(batch);
  table.commit(batch);
  const auto machines = [] {
    std::vector<HostedMachine> made;
    made.push_back({kCoordination, std::make_unique<Counter>()});
    made.push_back({kHosts, std::make_unique<BreaksBesideEntries>()});
    return made;
  };
  EngineOptions options{.members = {{ReplicaId(1), "a"}}, .new_cluster = ClusterId(1)};
  options.raft.self = ReplicaId(1);
  RecoveredLog log{.store = StoreId(11), .boot = BootCounter(2), .base = table.applied()};
  for (const absl::Status& status : {RestoredState::build(machines(), table).status(),
                                     Engine::recover(options, machines(), std::move(log), table, {}).status()}) {
    EXPECT_EQ(reason_of(status), Reason::HostThrew) << status;
    EXPECT_NE(status.message().find("machine 16 threw after entry 3: the timers broke"), std::string_view::npos) << status;
  }
  Router observed(machines(), 0);
  try {
    observed.observe(kHosts, "subject", true);
    ADD_FAILURE() << "it broke";
  } catch (const MachineThrew& threw) {
    EXPECT_THAT(threw.what(), ::testing::HasSubstr("machine 16 threw after entry 0: the observing broke"));
  }
}

// It keeps an index that is brought up to date when it is asked for, as locks at rest do.
class StarvesWhenAsked final : public StateMachine {
 public:
  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command>, ApplyOutput&) override {}
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
  absl::StatusOr<std::string> query(std::string_view) const override { return std::string(); }
  void checkpoint(CheckpointBatch&) override {}
  absl::Status restore(const CheckpointView&) override { throw std::bad_alloc(); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { throw std::bad_alloc(); }
};

// The digest's failure was swallowed, and an index that had lost a lock put a claim of a session that had ended into the
// checkpoint, so that the directory did not open again.
// Covers: FLT_A18
TEST_F(HostingTest, AMachineOfOursWithoutMemoryStopsWhoeverAsksAndItsRowsAreNotBlamed) {
  checkpoint();
  const auto machines = [] {
    std::vector<HostedMachine> made;
    made.push_back({kCoordination, std::make_unique<StarvesWhenAsked>()});
    return made;
  };
  EXPECT_THROW(RestoredState::build(machines(), table).status().IgnoreError(), std::bad_alloc);
  EngineOptions options{.members = {{ReplicaId(1), "a"}}, .new_cluster = ClusterId(1)};
  options.raft.self = ReplicaId(1);
  RecoveredLog log{.store = StoreId(11), .boot = BootCounter(2), .base = table.applied()};
  EXPECT_EQ(reason_of(Engine::recover(options, machines(), std::move(log), table, {}).status()), Reason::OutOfMemory);
  Rig founded(false, {});
  founded.router = std::make_unique<Router>(machines(), 0);
  founded.add(raft::EntryKind::Genesis, coordkit::encode(genesis()));
  EXPECT_THROW(founded.router->digest(), std::bad_alloc);
}

// Covers: S-60
TEST_F(HostingTest, ACommandOfAMachineThatIsNotHostedStopsTheReplicaBeforeIt) {
  const Index before = rig.router->applied().index;
  EXPECT_THROW(rig.ask(kOne, 1, "add 1", 1, MachineId(9)), CheckFailure);
  EXPECT_THROW(rig.ask(kOne, 1, "add 1", 1, kSecond, Request::GuardView{MachineId(9), ""}), CheckFailure);
  EXPECT_EQ(rig.router->applied().index, before);
}

// Covers: S-60
TEST_F(HostingTest, EntriesOfAMachineThatIsNotHostedAreFoundBeforeTheyAreApplied) {
  const auto entry = [](std::string payload) {
    return raft::Entry{Index(9), Term(1), raft::EntryKind::Command, 0, SharedBytes(std::move(payload))};
  };
  const std::vector<raft::Entry> fine = {entry(encode(Request{{kOne, Sequence(1)}, Sequence(1), kSecond, "add 1"})),
                                         entry(encode(RegisterOrigin{kOne}))};
  EXPECT_TRUE(rig.router->check_readable(fine).ok());
  for (const Request& foreign : {Request{{kOne, Sequence(1)}, Sequence(1), MachineId(9), "add 1"},
                                 Request{{kOne, Sequence(1)}, Sequence(1), kSecond, "add 1", {{MachineId(9), ""}}}}) {
    const std::vector<raft::Entry> entries = {fine[0], entry(encode(foreign))};
    EXPECT_EQ(rig.router->check_readable(entries).code(), absl::StatusCode::kFailedPrecondition);
  }
}

// Covers: S-60
TEST_F(HostingTest, AGuardIsAskedAtItsPlaceInTheLog) {
  EXPECT_EQ(rig.ask(kOne, 1, "add 1", 1, kSecond, at_least("1")).refused, Reason::Fenced);
  rig.ask(kOne, 2, "add 1");
  EXPECT_EQ(rig.ask(kOne, 3, "add 5", 1, kSecond, at_least("1")).bytes, "5");
  rig.ask(kOne, 4, "add -1");
  EXPECT_EQ(rig.ask(kOne, 5, "add 5", 1, kSecond, at_least("1")).refused, Reason::Fenced);
  EXPECT_EQ(rig.counter(kSecond).total(), 5);
}

// Covers: S-60
TEST_F(HostingTest, WhatLiesBeforeAGuardInTheSameBatchIsExecutedFirst) {
  const auto queue = [&](uint64_t sequence, std::string_view words, std::optional<Request::GuardView> guard) {
    rig.queue(raft::EntryKind::Command, encode(Request{{kOne, Sequence(sequence)}, Sequence(1), kCoordination, words, guard}));
  };
  queue(1, "add 1", {});
  queue(2, "add 10", at_least("1"));
  queue(3, "add -11", at_least("11"));
  queue(4, "add 100", at_least("1"));
  const RouterOutput& seen = rig.flush();
  ASSERT_EQ(seen.answers.size(), 4u);
  EXPECT_EQ(seen.answers[3].refused, Reason::Fenced);
  EXPECT_EQ(rig.counter().total(), 0);
}

// S-42: what was executed or refused once is answered again without checking the guard.
// Covers: S-42
TEST_F(HostingTest, ARepeatGetsTheFirstAnswerWhateverTheGuardSaysNow) {
  EXPECT_EQ(rig.ask(kOne, 1, "add 5", 1, kSecond, at_least("1")).refused, Reason::Fenced);
  rig.ask(kOne, 2, "add 1");
  const Index refused_at = rig.router->applied().index;
  EXPECT_EQ(rig.ask(kOne, 3, "add 7", 1, kSecond, at_least("1")).bytes, "7");
  Rig copy(false);
  ASSERT_TRUE(copy.router->restore(checkpoint()).ok());
  for (Rig* each : {&rig, &copy}) {
    const Answer again = each->ask(kOne, 1, "add 5", 1, kSecond, at_least("1"));
    EXPECT_EQ(again.refused, Reason::Fenced);
    EXPECT_LT(again.index, refused_at);
    each->ask(kOne, 4, "add -1");
    EXPECT_EQ(each->ask(kOne, 3, "add 7", 1, kSecond, at_least("1")).bytes, "7");
    EXPECT_EQ(each->counter(kSecond).total(), 7);
  }
  EXPECT_EQ(copy.router->digest(), rig.router->digest());
}

// Covers: S-42
TEST_F(HostingTest, AnUnknownOriginAndARetiredSequenceComeBeforeTheGuard) {
  EXPECT_EQ(rig.ask(kTwo, 1, "add 1", 1, kSecond, at_least("9")).refused, Reason::UnknownOrigin);
  rig.ask(kOne, 5, "add 0", 5);
  EXPECT_EQ(rig.ask(kOne, 4, "add 1", 4, kSecond, at_least("9")).refused, Reason::SequenceRetired);
}

// Covers: S-44
TEST_F(HostingTest, TheSameIdUnderAnotherGuardIsAnotherCommand) {
  rig.ask(kOne, 1, "add 1", 1, kSecond, at_least("0"));
  EXPECT_EQ(rig.ask(kOne, 1, "add 1", 1, kSecond, at_least("00")).refused, Reason::SequenceReused);
  EXPECT_EQ(rig.ask(kOne, 1, "add 1", 1, kSecond).refused, Reason::SequenceReused);
  EXPECT_EQ(rig.counter(kSecond).total(), 1);
}

// Covers: S-60
TEST_F(HostingTest, AMachineWithoutGuardsMeetsNone) {
  class Plain final : public StateMachine {
    void bootstrap(ClusterId, uint64_t) override {}
    void apply(std::span<const Command>, ApplyOutput&) override {}
    void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
    absl::StatusOr<std::string> query(std::string_view) const override { return std::string(); }
    void checkpoint(CheckpointBatch&) override {}
    absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
    void timers(std::vector<TimerOp>&) const override {}
    uint64_t digest() const override { return 0; }
  };
  EXPECT_FALSE(Plain().holds(""));
}

// Covers: S-60
TEST_F(HostingTest, AResultAboveTheLimitIsDroppedAndItsCallerKnowsThatItRan) {
  const Answer largest = rig.ask(kOne, 1, "result " + std::to_string(kResultBytesMax));
  EXPECT_EQ(largest.refused, std::nullopt);
  EXPECT_EQ(largest.bytes.size(), kResultBytesMax);
  const std::string words = "result " + std::to_string(kResultBytesMax + 1);
  for (int time = 0; time < 2; ++time) {
    const Answer larger = rig.ask(kOne, 2, words);
    EXPECT_EQ(larger.refused, Reason::ResultTooLarge);
    EXPECT_TRUE(larger.bytes.empty());
  }
  EXPECT_EQ(default_outcome(Reason::ResultTooLarge), Outcome::Done);
  Rig copy(false);
  ASSERT_TRUE(copy.router->restore(checkpoint()).ok());
  EXPECT_EQ(copy.ask(kOne, 2, words).refused, Reason::ResultTooLarge);
}

// As RouterTest.BatchBoundariesLeaveNoTrace, with guards and two machines that guard each other.
TEST_F(HostingTest, BatchBoundariesLeaveNoTraceOfGuards) {
  size_t fenced = 0, met = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Rig one_by_one, batched;
    for (int step = 0; step < 150; ++step) {
      const uint64_t sequence = static_cast<uint64_t>(step) / 3 + 1;
      const std::string words[] = {"add 1", "add -1", "add 2", "wait", "wake"};
      const std::string bound = std::to_string(random.below(4));
      Request request{{kOne, Sequence(sequence)}, Sequence(1), MachineId(random.between(1, 2)), words[random.below(5)]};
      if (random.below(2) == 0) request.guard = {MachineId(random.between(1, 2)), bound};
      const std::string payload = step == 0 ? encode(RegisterOrigin{kOne}) : encode(request);
      for (const Answer& answer : one_by_one.command(payload).answers) {
        fenced += answer.refused == Reason::Fenced;
        met += !answer.refused && request.guard;
      }
      batched.queue(raft::EntryKind::Command, payload);
      if (random.below(8) == 0) batched.flush();
    }
    batched.flush();
    EXPECT_EQ(batched.router->digest(), one_by_one.router->digest());
    CheckpointBatch left, right;
    one_by_one.router->checkpoint(left);
    batched.router->checkpoint(right);
    EXPECT_EQ(right.rows, left.rows);
  }
  EXPECT_GT(fenced, 300u);
  EXPECT_GT(met, 300u);
}

}  // namespace
}  // namespace coordkit::engine
