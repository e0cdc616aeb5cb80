// Conformance suite for state machines, the part about unusual conditions: bytes without sense,
// another process, a state that came from a peer, and many thousand rows. Part of
// state_machine_suite.h.
#pragma once

#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/child_process.h"
#include "coordkit/testing/state_machine_fixture.h"

namespace coordkit::testkit {

// The exception that `act` throws, as text; empty: none.
inline std::string thrown_by(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& thrown) {
    return std::string("'") + thrown.what() + "'";
  } catch (...) {
    return "something that is no std::exception";
  }
  return "";
}

// Random bytes, at most `bytes_max` of them, or none.
inline std::string noise(RandomBits& random, size_t bytes_max) {
  std::string bytes(random() % (bytes_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// A copy that was damaged, cut short or lengthened on its way.
inline std::string spoiled(std::string bytes, RandomBits& random) {
  switch (random() % 4) {
    case 0: return noise(random, 300);
    case 1: bytes.resize(random() % (bytes.size() + 1)); break;
    case 2: bytes += noise(random, 300); break;
    default:
      if (!bytes.empty()) bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
  }
  return bytes;
}

// Covers: FLT_A07
TEST_P(StateMachineSuite, NoQuestionThrowsAndNoneChangesTheState) {
  MachineUnderTest machine(GetParam().make());
  machine.bootstrap();
  machine.apply(history(1));
  const uint64_t before = machine.machine->digest();
  RandomBits random(1);
  std::vector<std::string> asked = GetParam().questions;
  asked.emplace_back();
  for (int i = 0; i < 2000; ++i) {
    const std::string intact = i % 2 == 0 ? GetParam().command(random) : asked[random() % asked.size()];
    const std::string question = spoiled(intact, random);
    const std::string thrown = thrown_by([&] { machine.machine->query(question).status().IgnoreError(); });
    ASSERT_EQ(thrown, "") << "query() throws; a malformed question is answered kInvalidArgument";
    const std::string refused = thrown_by([&] { static_cast<void>(machine.machine->holds(question)); });
    ASSERT_EQ(refused, "") << "holds() throws, so a malformed guard halts every replica; it is not met";
  }
  EXPECT_EQ(machine.machine->digest(), before) << "query() or holds() has changed the state";
}

// Covers: FLT_A07
TEST_P(StateMachineSuite, NoCommandThrowsWhateverItsBytes) {
  MachineUnderTest one(GetParam().make()), other(GetParam().make());
  one.bootstrap();
  other.bootstrap();
  RandomBits random(2);
  for (uint64_t i = 0; i < 2000; ++i) {
    const std::string command = spoiled(GetParam().command(random), random);
    const std::string thrown = thrown_by([&] { one.apply({{i + 2, command}}); });
    ASSERT_EQ(thrown, "")
        << "apply() throws at a command without sense, which halts every replica, and again after each restart";
    other.apply({{i + 2, command}});
  }
  EXPECT_EQ(one.answers, other.answers) << "two machines answer the same malformed commands differently";
  expect_alike(one, other);
}

// Two machines of one process may agree on things that no two replicas share: addresses, seeds of
// hashes, the environment.
TEST_P(StateMachineSuite, AnotherProcessComesToTheSame) {
  constexpr char kAnotherRun[] = "COORDKIT_ANOTHER_RUN";
  std::string account;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MachineUnderTest machine(GetParam().make());
    machine.bootstrap();
    uint64_t answers = 0;
    for (const auto& command : history(seed)) {
      machine.apply({command});
      if (command.first % 20 == 0) machine.fire(command.first + 1'000'000, 3);
    }
    for (const auto* output : {&machine.answers, &machine.events}) {
      for (const std::string& text : *output) answers = value_sum(std::to_string(answers), text);
    }
    account += " " + std::to_string(answers) + "/" + std::to_string(machine.machine->digest());
  }
  // For the run that started this one.
  if (std::getenv(kAnotherRun) != nullptr) GTEST_SKIP() << "account:" << account << ".";
  const std::string printed = printed_by_another_run(kAnotherRun);
  ASSERT_NE(printed.find("account:"), std::string::npos) << "another run of this program did not come to its end:\n" << printed;
  EXPECT_NE(printed.find("account:" + account + "."), std::string::npos)
      << "another process comes to other answers or another digest: something depends on an address, the seed of a hash, a "
         "clock, the environment or chance\nhere:"
      << account << "\n"
      << printed;
}

// A replica whose log no longer reaches far enough takes the state of a peer, and writes its own
// checkpoints from there on.
// Covers: FLT_D16
TEST_P(StateMachineSuite, AStateThatCameFromAPeerIsCheckpointedLikeThePeers) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto commands = history(seed);
    const size_t half = commands.size() / 2;
    MachineUnderTest peer(GetParam().make()), behind(GetParam().make());
    peer.bootstrap();
    behind.bootstrap();
    behind.apply(part(commands, 0, half / 2));
    peer.apply(part(commands, 0, half));
    RowStore stored(GetParam().id);
    peer.checkpoint(stored);
    RowStore installed = stored;
    ASSERT_TRUE(behind.restore(installed).ok()) << "restore() refuses the rows of another machine of its kind";
    peer.answers.clear();
    peer.events.clear();
    for (size_t i = half; i < commands.size(); ++i) {
      peer.apply({commands[i]});
      behind.apply({commands[i]});
      if (i % 17 != 0) continue;
      peer.checkpoint(stored);
      behind.checkpoint(installed);
      ASSERT_EQ(installed.digest(), stored.digest())
          << "after a state came from a peer, checkpoints leave other rows than the peer's: what has changed is counted from "
             "the state before";
    }
    EXPECT_EQ(behind.answers, peer.answers) << "a machine whose state came from a peer answers otherwise";
    EXPECT_EQ(behind.events, peer.events);
    expect_alike(behind, peer);
  }
}

TEST_P(StateMachineSuite, ABigStateIsRestoredWholeAndItsCheckpointsStaySmall) {
  if (!GetParam().fill) GTEST_SKIP() << "StateMachineCase::fill would show how the machine bears a big state";
  constexpr uint64_t kRows = 20'000, kBatch = 100, kMore = 10;
  MachineUnderTest machine(GetParam().make());
  machine.bootstrap();
  RowStore stored(GetParam().id);
  uint64_t index = 2;
  const auto apply = [&](MachineUnderTest& to, uint64_t from, uint64_t count) {
    std::vector<std::pair<uint64_t, std::string>> commands;
    for (uint64_t i = 0; i < count; ++i) commands.emplace_back(index + i, GetParam().fill(from + i));
    to.apply(commands);
  };
  for (uint64_t i = 0; i < kRows; i += kBatch, index += kBatch) apply(machine, i, kBatch);
  CheckpointBatch first;
  machine.machine->checkpoint(first);
  stored.add(first);
  ASSERT_GE(stored.size(), kRows) << "StateMachineCase::fill makes fewer rows than commands";
  MachineUnderTest copy(GetParam().make());
  ASSERT_TRUE(copy.restore(stored).ok());
  expect_alike(copy, machine);
  for (MachineUnderTest* one : {&machine, &copy}) {
    apply(*one, kRows, kMore);
    CheckpointBatch more;
    one->machine->checkpoint(more);
    EXPECT_LE(more.rows.size(), 20 * kMore)
        << "a few commands on a big state write many rows: checkpoints hold what has changed";
  }
  expect_alike(copy, machine);
}

}  // namespace coordkit::testkit
