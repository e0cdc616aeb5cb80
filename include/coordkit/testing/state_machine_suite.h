// Conformance suite for state machines: everything the log relies on, tried on random commands of
// yours.
//
//   INSTANTIATE_TEST_SUITE_P(Mine, StateMachineSuite, ::testing::Values(
//       coordkit::testkit::StateMachineCase{
//           .name = "ledger",
//           .id = kLedger,
//           .make = [] { return std::make_unique<Ledger>(); },
//           .command = random_command}),
//       coordkit::testkit::machine_name);
//
// Include it in one source file of a test program and instantiate it in the namespace
// coordkit::testkit.
// Two machines that get the same log must be indistinguishable. That must hold however the log is
// cut into calls, and whether or not one of them came out of a checkpoint on the way. Commands
// should reach every branch of yours, refusals and malformed bytes included, and depend only on the
// given randomness. Not tested: time, memory, and branches that random commands do not reach.
// state_machine_limits_suite.h tests arbitrary bytes, other processes and big states. Which defects
// each test notices: docs/conformance.md.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/state_machine_fixture.h"
#include "coordkit/testing/state_machine_limits_suite.h"

namespace coordkit::testkit {

TEST_P(StateMachineSuite, TheSameLogGivesTheSameWhateverTheBatches) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto commands = history(seed);
    RandomBits random(seed);
    MachineUnderTest one_by_one(GetParam().make()), batched(GetParam().make());
    one_by_one.bootstrap();
    batched.bootstrap();
    for (size_t from = 0; from < commands.size();) {
      const size_t to = std::min<size_t>(commands.size(), from + 1 + random() % 20);
      for (size_t i = from; i < to; ++i) one_by_one.apply(part(commands, i, i + 1));
      batched.apply(part(commands, from, to));
      one_by_one.fire(commands[to - 1].first + 1'000'000, 3);
      batched.fire(commands[to - 1].first + 1'000'000, 3);
      from = to;
      ASSERT_EQ(one_by_one.answers, batched.answers)
          << "answers depend on how the log is cut into calls of apply(), or on bytes of a command after its call";
      ASSERT_EQ(one_by_one.events, batched.events) << "events depend on how the log is cut into calls of apply()";
      ASSERT_EQ(one_by_one.armed, batched.armed) << "timers depend on how the log is cut into calls of apply()";
      expect_alike(one_by_one, batched);
    }
    expect_timers_are_the_armed_ones(batched);
  }
}

// A caller whose replica was sent a whole state learns the outcome of a queued command from that
// state.
TEST_P(StateMachineSuite, WhatTheStateSaysOfAQueuedCommandIsWhatBecameOfIt) {
  bool queues = false, says = false;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto commands = history(seed);
    MachineUnderTest original(GetParam().make());
    original.bootstrap();
    RowStore store(GetParam().id);
    for (size_t i = 0; i < commands.size(); ++i) {
      original.apply({commands[i]});
      if (i % 20 == 0) original.fire(commands[i].first + 1'000'000, 3);
      if (i % 50 != 49) continue;
      std::vector<RequestId> asked;
      for (const auto& [request, waits] : original.queued) asked.push_back(request);
      original.checkpoint(store);
      MachineUnderTest copy(GetParam().make());
      ASSERT_TRUE(copy.restore(store).ok());
      const std::map<RequestId, std::string> known = copy.known_of(asked);
      for (const auto& [request, what] : known) {
        ASSERT_EQ(original.queued.at(request), what == "waits")
            << "queued_results() of a restored machine says of entry " << request.sequence.value() << " that it " << what
            << ", which is not true";
      }
      ASSERT_EQ(known, original.known_of(asked)) << "queued_results() depends on more than the state";
      queues = queues || !asked.empty();
      says = says || !known.empty();
    }
  }
  if (!queues) GTEST_SKIP() << "no command of StateMachineCase::command is answered Queued";
  if (!says) GTEST_SKIP() << "queued_results() is not implemented: callers that wait while a peer's state comes learn nothing";
}

// REG_R23: nothing is rolled back. The effects of apply stay, the digest shows it, and queries
// change nothing.
// Covers: REG_R23
TEST_P(StateMachineSuite, LookingChangesNothing) {
  const auto commands = history(1);
  MachineUnderTest looked(GetParam().make()), left_alone(GetParam().make());
  looked.bootstrap();
  left_alone.bootstrap();
  for (const auto& command : commands) {
    looked.apply({command});
    left_alone.apply({command});
    for (const std::string& question : GetParam().questions) looked.machine->query(question).status().IgnoreError();
    for (const std::string& guard : GetParam().guards) static_cast<void>(looked.machine->holds(guard));
    static_cast<void>(looked.machine->digest());
    static_cast<void>(looked.timers());
  }
  EXPECT_EQ(looked.answers, left_alone.answers) << "query(), holds(), digest() or timers() has changed the state";
  EXPECT_EQ(looked.events, left_alone.events);
  SCOPED_TRACE("query(), holds(), digest() or timers() has changed the state");
  expect_alike(looked, left_alone);
}

// The leader proposes a firing. When it is applied the timer may have been armed again, or be gone.
TEST_P(StateMachineSuite, AFiringOfWhatWasArmedAgainOrIsGoneIsSkipped) {
  MachineUnderTest machine(GetParam().make());
  machine.bootstrap();
  std::vector<FiredTimer> stale;
  for (const auto& command : history(1)) {
    const auto before = machine.armed;
    machine.apply({command});
    for (const auto& [id, op] : before) {
      const auto now = machine.armed.find(id);
      if (now == machine.armed.end() || now->second.generation != op.generation) stale.push_back({id, op.generation});
    }
  }
  if (stale.empty()) {
    GTEST_SKIP() << "no command of StateMachineCase::command disarms a timer or arms one again under a new generation, without "
                    "which a firing that is under way ends the timer that was just armed";
  }
  const uint64_t digest = machine.machine->digest();
  ApplyOutput output;
  for (const FiredTimer& one : stale) machine.machine->fire(Index(1'000'000), {&one, 1}, output);
  EXPECT_TRUE(output.results.empty() && output.events.empty() && output.timer_ops.empty() &&
              machine.machine->digest() == digest)
      << "fire() executes a firing of a timer that is gone or was armed again since: its generation is another one";
}

TEST_P(StateMachineSuite, ACheckpointRestoresToTheSameMachineFromAnyPointOn) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto commands = history(seed);
    MachineUnderTest original(GetParam().make());
    original.bootstrap();
    RowStore store(GetParam().id);
    std::vector<std::unique_ptr<MachineUnderTest>> copies;
    for (size_t i = 0; i < commands.size(); ++i) {
      const size_t answers = original.answers.size(), events = original.events.size();
      original.apply({commands[i]});
      for (auto& copy : copies) {
        copy->answers.clear();
        copy->events.clear();
        copy->apply({commands[i]});
        ASSERT_EQ(copy->answers, part(original.answers, answers, original.answers.size())) << "after a restore";
        ASSERT_EQ(copy->events, part(original.events, events, original.events.size())) << "after a restore";
      }
      if (i % 20 == 0) fire_alike(original, copies, commands[i].first + 1'000'000);
      if (i % 97 != 0) continue;
      original.checkpoint(store);
      copies.push_back(std::make_unique<MachineUnderTest>(GetParam().make()));
      const absl::Status restored = copies.back()->restore(store);
      ASSERT_TRUE(restored.ok()) << restored.ToString();
      SCOPED_TRACE("a machine that was restored from its checkpoints differs from the one that kept running");
      for (auto& copy : copies) expect_alike(*copy, original);
    }
  }
}

TEST_P(StateMachineSuite, RestoreReplacesWhateverWasThere) {
  const auto commands = history(1);
  for (const size_t count : {size_t{0}, size_t{5}, commands.size() / 2}) {
    SCOPED_TRACE("restored to the state after " + std::to_string(count) + " commands");
    MachineUnderTest original(GetParam().make()), used(GetParam().make());
    RowStore store(GetParam().id);
    if (count != 0) {  // else no rows: blank
      original.bootstrap();
      original.apply(part(commands, 0, count));
      original.checkpoint(store);
    }
    used.bootstrap();
    used.apply(commands);
    ASSERT_TRUE(used.restore(store).ok());
    SCOPED_TRACE("restore() keeps something of the state before");
    expect_alike(used, original);
    if (count == 0) {
      original.bootstrap();
      used.bootstrap();
    }
    original.answers.clear();
    original.events.clear();
    for (MachineUnderTest* one : {&used, &original}) one->apply(part(commands, count, commands.size()));
    EXPECT_EQ(used.answers, original.answers);
    EXPECT_EQ(used.events, original.events);
    expect_alike(used, original);
  }
}

TEST_P(StateMachineSuite, ACheckpointHoldsOnlyWhatChangedSinceTheOneBefore) {
  const auto commands = history(1);
  MachineUnderTest machine(GetParam().make());
  machine.bootstrap();
  RowStore store(GetParam().id);
  size_t rows_of_all = 0, rows_stored = 0;
  for (const auto& command : commands) {
    machine.apply({command});
    rows_of_all += machine.checkpoint(store);
    rows_stored += store.size();
    CheckpointBatch again;
    machine.machine->checkpoint(again);
    ASSERT_TRUE(store.same_as(again)) << "a second checkpoint changes nothing";
    ASSERT_LE(again.rows.size(), 1u) << "nothing changed, so there is nothing to write but a row of counters";
  }
  // A machine that writes everything each time is right and slow: the whole state every few
  // thousand entries.
  EXPECT_TRUE(store.size() <= 8 || rows_of_all < rows_stored) << "checkpoints repeat rows that did not change";
}

// For machines that can: the disk has lost the stored rows, and the rows of the next checkpoint are
// all there is.
// Covers: FLT_D08
TEST_P(StateMachineSuite, AWholeCheckpointNeedsNothingThatWasStoredBefore) {
  const auto commands = history(2);
  MachineUnderTest original(GetParam().make());
  original.bootstrap();
  if (!original.machine->forget_stored()) GTEST_SKIP() << "forget_stored() is not implemented";
  for (size_t i = 0; i < commands.size(); ++i) {
    original.apply({commands[i]});
    CheckpointBatch changes;
    if (i % 7 == 0) original.machine->checkpoint(changes);
    if (i % 53 != 0) continue;
    ASSERT_TRUE(original.machine->forget_stored());
    CheckpointBatch whole;
    original.machine->checkpoint(whole);
    for (const CheckpointBatch::Row& row : whole.rows) ASSERT_TRUE(row.value) << "nothing is there to be erased";
    RowStore store(GetParam().id);
    store.add(whole);
    MachineUnderTest copy(GetParam().make());
    const absl::Status restored = copy.machine->restore(store);
    ASSERT_TRUE(restored.ok()) << restored.ToString();
    ASSERT_NO_FATAL_FAILURE(expect_alike(copy, original)) << i;
  }
}

// States of one history and of several. A state that only counts is the same after as many commands
// of another history.
TEST_P(StateMachineSuite, DifferentStatesHaveDifferentDigests) {
  constexpr uint64_t kBeginnings = 200;  // many of which are nearly alike
  std::map<uint64_t, uint64_t> rows_of;  // the digest of the rows, by that of the machine
  std::set<uint64_t> states;
  for (uint64_t seed = 1; seed <= kSeeds + kBeginnings; ++seed) {
    const auto commands = history(seed, seed <= kSeeds ? GetParam().commands : 4);
    MachineUnderTest machine(GetParam().make());
    machine.bootstrap();
    RowStore rows(GetParam().id);
    for (const auto& command : commands) {
      machine.apply({command});
      machine.checkpoint(rows);
      states.insert(rows.digest());
      ASSERT_EQ(rows_of.try_emplace(machine.machine->digest(), rows.digest()).first->second, rows.digest())
          << "two states that differ in their rows have one digest, the latter after entry " << command.first << " of history "
          << seed;
    }
  }
  EXPECT_GT(states.size(), 10u) << "give the suite commands that change something";
}

}  // namespace coordkit::testkit
