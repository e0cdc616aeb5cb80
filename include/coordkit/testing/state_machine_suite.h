// Conformance suite for state machines: what the log relies on, tried on random commands of yours.
//
//   INSTANTIATE_TEST_SUITE_P(Mine, StateMachineSuite, ::testing::Values(coordkit::testing::StateMachineCase{
//       .name = "ledger", .id = kLedger, .make = [] { return std::make_unique<Ledger>(); }, .command = random_command}),
//       coordkit::testing::machine_name);
//
// Include it in one source file of a test program and instantiate it in the namespace coordkit::testing.
// Two machines that are fed the same log must not be told apart, however the log is cut into calls, and whether or not one of
// them came out of a checkpoint on the way. Commands should reach every branch of yours, refusals and malformed bytes included,
// and depend on the given randomness alone. Not tried: time, memory, and what random commands do not reach.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/machine_under_test.h"

namespace coordkit::testing {

using RandomBits = std::mt19937_64;

struct StateMachineCase {
  std::string name;
  MachineId id;
  std::function<std::unique_ptr<StateMachine>()> make;
  std::function<std::string(RandomBits&)> command;  // the next one of a random history
  std::vector<std::string> questions = {};          // asked of both machines now and then
  size_t commands = 600;                            // of one history
  std::vector<std::string> guards = {};             // likewise, for holds()
};

inline void PrintTo(const StateMachineCase& one, std::ostream* out) { *out << one.name; }
inline std::string machine_name(const ::testing::TestParamInfo<StateMachineCase>& info) { return info.param.name; }

class StateMachineSuite : public ::testing::TestWithParam<StateMachineCase> {
 protected:
  static constexpr uint64_t kSeeds = 5;

  std::vector<std::pair<uint64_t, std::string>> history(uint64_t seed) const {
    RandomBits random(seed);
    std::vector<std::pair<uint64_t, std::string>> commands;
    for (uint64_t i = 0; i < GetParam().commands; ++i) commands.emplace_back(i + 2, GetParam().command(random));
    return commands;
  }
  template <typename Commands>
  static Commands part(const Commands& commands, size_t from, size_t to) {
    return {commands.begin() + static_cast<ptrdiff_t>(from), commands.begin() + static_cast<ptrdiff_t>(to)};
  }
  void expect_alike(const MachineUnderTest& left, const MachineUnderTest& right) const {
    EXPECT_EQ(left.machine->digest(), right.machine->digest()) << "equal histories have equal digests";
    EXPECT_EQ(left.timers(), right.timers());
    for (const std::string& question : GetParam().questions) {
      const absl::StatusOr<std::string> one = left.machine->query(question), other = right.machine->query(question);
      EXPECT_EQ(one.status(), other.status()) << question;
      EXPECT_EQ(one.value_or(""), other.value_or("")) << question;
    }
    for (const std::string& guard : GetParam().guards)
      EXPECT_EQ(left.machine->holds(guard), right.machine->holds(guard)) << guard;
  }
  // In the armed timers' own order, because timers() gives them ascending.
  void expect_timers_are_the_armed_ones(const MachineUnderTest& one) const {
    std::vector<TimerOp> armed;
    for (const auto& [id, op] : one.armed) armed.push_back(op);
    EXPECT_EQ(one.timers(), armed) << "timers() enumerates what was armed and not disarmed, ascending";
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StateMachineSuite);

TEST_P(StateMachineSuite, TheSameLogGivesTheSameWhateverTheBatches) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto commands = history(seed);
    RandomBits random(seed);
    MachineUnderTest one_by_one(GetParam().make()), batched(GetParam().make());
    one_by_one.found();
    batched.found();
    for (size_t from = 0; from < commands.size();) {
      const size_t to = std::min<size_t>(commands.size(), from + 1 + random() % 20);
      for (size_t i = from; i < to; ++i) one_by_one.apply(part(commands, i, i + 1));
      batched.apply(part(commands, from, to));
      one_by_one.fire(commands[to - 1].first + 1'000'000, 3);
      batched.fire(commands[to - 1].first + 1'000'000, 3);
      from = to;
      ASSERT_EQ(one_by_one.answers, batched.answers);
      ASSERT_EQ(one_by_one.events, batched.events);
      ASSERT_EQ(one_by_one.armed, batched.armed);
      expect_alike(one_by_one, batched);
    }
    expect_timers_are_the_armed_ones(batched);
  }
}

// REG_R23: there is nothing to roll back. What apply did stays, the digest says so, and asking changes nothing.
TEST_P(StateMachineSuite, REG_R23_LookingChangesNothing) {
  const auto commands = history(1);
  MachineUnderTest looked(GetParam().make()), left_alone(GetParam().make());
  looked.found();
  left_alone.found();
  for (const auto& command : commands) {
    looked.apply({command});
    left_alone.apply({command});
    for (const std::string& question : GetParam().questions) looked.machine->query(question).status().IgnoreError();
    for (const std::string& guard : GetParam().guards) static_cast<void>(looked.machine->holds(guard));
    static_cast<void>(looked.machine->digest());
    static_cast<void>(looked.timers());
  }
  EXPECT_EQ(looked.answers, left_alone.answers);
  EXPECT_EQ(looked.events, left_alone.events);
  expect_alike(looked, left_alone);
}

TEST_P(StateMachineSuite, ACheckpointRestoresToTheSameMachineFromAnyPointOn) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto commands = history(seed);
    MachineUnderTest original(GetParam().make());
    original.found();
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
      if (i % 97 != 0) continue;
      CheckpointBatch batch;
      original.machine->checkpoint(batch);
      store.add(batch);
      copies.push_back(std::make_unique<MachineUnderTest>(GetParam().make()));
      const absl::Status restored = copies.back()->machine->restore(store);
      ASSERT_TRUE(restored.ok()) << restored.ToString();
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
    if (count != 0) {  // else without any rows: blank
      original.found();
      original.apply(part(commands, 0, count));
      CheckpointBatch batch;
      original.machine->checkpoint(batch);
      store.add(batch);
    }
    used.found();
    used.apply(commands);
    ASSERT_TRUE(used.machine->restore(store).ok());
    expect_alike(used, original);
  }
}

TEST_P(StateMachineSuite, ACheckpointHoldsOnlyWhatChangedSinceTheOneBefore) {
  const auto commands = history(1);
  MachineUnderTest machine(GetParam().make());
  machine.found();
  RowStore store(GetParam().id);
  size_t rows_of_all = 0, rows_stored = 0;
  for (const auto& command : commands) {
    machine.apply({command});
    CheckpointBatch batch;
    machine.machine->checkpoint(batch);
    store.add(batch);
    rows_of_all += batch.rows.size();
    rows_stored += store.size();
    CheckpointBatch again;
    machine.machine->checkpoint(again);
    ASSERT_TRUE(store.same_as(again)) << "a second checkpoint changes nothing";
    ASSERT_LE(again.rows.size(), 1u) << "nothing changed, so there is nothing to write but a row of counters";
  }
  // A machine that writes everything each time is right and slow: the whole state every few thousand entries.
  EXPECT_TRUE(store.size() <= 8 || rows_of_all < rows_stored) << "checkpoints repeat rows that did not change";
}

// For machines that can: the disk has lost what was stored, and the rows of the next checkpoint are all there is.
TEST_P(StateMachineSuite, FLT_D08_AWholeCheckpointNeedsNothingThatWasStoredBefore) {
  const auto commands = history(2);
  MachineUnderTest original(GetParam().make());
  original.found();
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

TEST_P(StateMachineSuite, DifferentStatesHaveDifferentDigests) {
  std::set<uint64_t> digests;
  std::set<std::map<std::string, std::string>> states;
  MachineUnderTest machine(GetParam().make());
  machine.found();
  std::map<std::string, std::string> rows;
  for (const auto& command : history(1)) {
    machine.apply({command});
    CheckpointBatch batch;
    machine.machine->checkpoint(batch);
    for (const CheckpointBatch::Row& row : batch.rows) {
      if (row.value) {
        rows[row.key] = *row.value;
      } else {
        rows.erase(row.key);
      }
    }
    states.insert(rows);
    digests.insert(machine.machine->digest());
  }
  EXPECT_GT(states.size(), 10u) << "give the suite commands that change something";
  EXPECT_GE(digests.size(), states.size()) << "two states that differ in their rows have one digest";
}

}  // namespace coordkit::testing
