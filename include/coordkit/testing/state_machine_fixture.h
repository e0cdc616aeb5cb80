// The basis of the claims of state_machine_suite.h: a machine with its commands, and the comparison
// of two of its kind.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/machine_under_test.h"

namespace coordkit::testkit {

using RandomBits = std::mt19937_64;  // the same seed gives the same numbers, everywhere

// A state machine to test: how it is made, and commands for it.
struct StateMachineCase {
  std::string name;                                     // of the case, in the names of the tests:
                                                        // letters, digits and "_"
  MachineId id;                                         // its rows begin with row_prefix(id)
  std::function<std::unique_ptr<StateMachine>()> make;  // a new machine, before bootstrap()
  std::function<std::string(RandomBits&)> command;      // the next one of a random history
  std::vector<std::string> questions = {};              // put to both machines now and then
  size_t commands = 600;                                // of one history
  std::vector<std::string> guards = {};                 // the same for holds()
  // The i-th command of a history that makes the state big: at least one row each. Empty: no test
  // with a big state.
  std::function<std::string(uint64_t i)> fill = {};
};

// For GoogleTest: how a case is printed.
inline void PrintTo(const StateMachineCase& one, std::ostream* out) { *out << one.name; }
// For INSTANTIATE_TEST_SUITE_P: the case is part of a test's name.
inline std::string machine_name(const ::testing::TestParamInfo<StateMachineCase>& info) { return info.param.name; }

// Random histories of the machine under test, and what two machines must have in common.
class StateMachineSuite : public ::testing::TestWithParam<StateMachineCase> {
 protected:
  static constexpr uint64_t kSeeds = 5;  // histories for each claim: seeds 1 to kSeeds

  // Commands with their indexes, from 2 on. The same seed gives the same ones.
  std::vector<std::pair<uint64_t, std::string>> history(uint64_t seed) const { return history(seed, GetParam().commands); }
  // The same, with `count` commands.
  std::vector<std::pair<uint64_t, std::string>> history(uint64_t seed, size_t count) const {
    RandomBits random(seed);
    std::vector<std::pair<uint64_t, std::string>> commands;
    for (uint64_t i = 0; i < count; ++i) commands.emplace_back(i + 2, GetParam().command(random));
    return commands;
  }
  // The elements from `from` on, without the one at `to`.
  template <typename Commands>
  static Commands part(const Commands& commands, size_t from, size_t to) {
    return {commands.begin() + static_cast<ptrdiff_t>(from), commands.begin() + static_cast<ptrdiff_t>(to)};
  }
  // Expects equal digests, timers, and answers to all questions and guards.
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
  // Fires all armed timers in all of them.
  void fire_alike(MachineUnderTest& original, std::vector<std::unique_ptr<MachineUnderTest>>& copies, uint64_t index) const {
    SCOPED_TRACE("a machine that was restored fires otherwise");
    const size_t answers = original.answers.size(), events = original.events.size();
    original.fire(index, 3);
    for (auto& copy : copies) {
      copy->answers.clear();
      copy->events.clear();
      copy->fire(index, 3);
      EXPECT_EQ(copy->answers, part(original.answers, answers, original.answers.size()));
      EXPECT_EQ(copy->events, part(original.events, events, original.events.size()));
      EXPECT_EQ(copy->armed, original.armed);
      EXPECT_EQ(copy->machine->digest(), original.machine->digest());
    }
  }
  // In the armed timers' own order, because timers() returns them ascending.
  void expect_timers_are_the_armed_ones(const MachineUnderTest& one) const {
    std::vector<TimerOp> armed;
    for (const auto& [id, op] : one.armed) armed.push_back(op);
    EXPECT_EQ(one.timers(), armed) << "timers() enumerates what was armed and not disarmed, ascending";
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StateMachineSuite);

}  // namespace coordkit::testkit
