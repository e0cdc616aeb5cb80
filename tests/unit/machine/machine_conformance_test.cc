// Every built-in machine against the suite for a host's own machines: coordkit's, and the one of the example.
#include "coordkit/testing/state_machine_suite.h"
#include "examples/02_ledger/ledger.h"
#include "machine/guard.h"
#include "machine/machine.h"

namespace coordkit::testkit {
namespace {

uint64_t below(RandomBits& random, uint64_t bound) { return random() % bound; }

std::string ledger_command(RandomBits& random) {
  const std::string names[] = {"anna", "ben", "carl", "dora", std::string(100, 'x')};
  const std::string amount = below(random, 20) == 0 ? "18446744073709551615" : std::to_string(below(random, 50));
  switch (below(random, 8)) {
    case 0: return "nonsense " + amount;
    case 1:
    case 2: return "deposit " + names[below(random, 5)] + " " + amount;
    default: return "move " + names[below(random, 5)] + " " + names[below(random, 5)] + " " + amount;
  }
}

// Sessions and tokens count up from the token base, so that a stream of commands can guess them.
std::string coordkit_command(RandomBits& random) {
  using namespace machine;
  const auto id = [&] { return (uint64_t{1} << 58) + below(random, 60); };
  const std::string lock = "lock-" + std::to_string(below(random, 3));
  const std::string key = "key-" + std::to_string(below(random, 5));
  const RequestId some{{ReplicaId(1), StoreId(7), BootCounter(1)}, Sequence(below(random, 600))};
  Request request;
  switch (below(random, 15)) {
    case 0: return "\xff nonsense";
    case 1:
    case 2:
      request.body = OpenSession{std::chrono::seconds(5), "meta", ReplicaId(1), BootCounter(1), 7, lease::hash_of_secret("s")};
      break;
    case 3: request.body = CloseSession{SessionId(id())}; break;
    case 4: request.body = Acquire{SessionId(id()), "", lock, Wait::timed(std::chrono::seconds(2)), {"value"}, 0}; break;
    case 5: request.body = Acquire{SessionId(id()), "tag", lock, Wait::forever(), {}, 0}; break;
    case 6: request.body = Acquire{SessionId(id()), "", lock, Wait::none(), {}, 0}; break;
    case 7: request.body = Release{SessionId(id()), std::nullopt, lock, Token(id())}; break;
    case 8: request.body = CancelAcquire{SessionId(id()), "tag", lock, some}; break;
    case 9: request.body = Delete{key}; break;
    case 10: request.body = ResumeSession{SessionId(id()), "s", below(random, 2) == 0}; break;
    case 11: request.body = KillSession{SessionId(id())}; break;
    case 12: request.body = ForceRelease{lock, Token(id())}; break;
    default: request.body = Put{key, std::to_string(below(random, 100))};
  }
  return encode(request);
}

std::vector<StateMachineCase> cases() {
  std::vector<std::string> guards = {"nonsense"};
  for (const char* lock : {"lock-0", "lock-1", "lock-2"}) {
    for (uint64_t token = 0; token < 60; ++token) {
      guards.push_back(encode(machine::Guard(machine::LockHeld{lock, Token((uint64_t{1} << 58) + token)})));
    }
  }
  return {{.name = "coordkit",
           .id = kCoordination,
           .make = [] { return std::make_unique<machine::Machine>(row_prefix(kCoordination)); },
           .command = coordkit_command,
           .questions = {"nonsense"},
           .guards = guards,
           .fill =
               [](uint64_t i) {
                 return encode(machine::Request{.body = machine::Put{"many/" + std::to_string(i), "value"}});
               }},
          {.name = "ledger",
           .id = example::kLedger,
           .make = [] { return std::make_unique<example::Ledger>(); },
           .command = ledger_command,
           .questions = {"anna", "ben", "nobody", ""},
           .fill = [](uint64_t i) { return "deposit number-" + std::to_string(i) + " 5"; }}};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(InTheBox, StateMachineSuite, ::testing::ValuesIn(cases()), machine_name);

// The suite asks in bytes; coordkit's own machine is read without.
TEST(CoordkitMachineTest, OneThatCameOutOfACheckpointReadsAsTheOneThatWentOn) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    RandomBits random(seed);
    MachineUnderTest whole(std::make_unique<machine::Machine>(row_prefix(kCoordination)));
    whole.bootstrap();
    RowStore stored(kCoordination);
    for (uint64_t i = 0; i < 600; ++i) {
      whole.apply({{i + 2, coordkit_command(random)}});
      if (i % 50 != 49) continue;
      CheckpointBatch batch;
      whole.machine->checkpoint(batch);
      stored.add(batch);
      machine::Machine copy(row_prefix(kCoordination));
      ASSERT_TRUE(copy.restore(stored).ok());
      const machine::Reads& left = *whole.machine->reads();
      const machine::Reads& right = *copy.reads();
      for (const char* lock : {"lock-0", "lock-1", "lock-2"}) {
        EXPECT_EQ(left.holders_of(lock), right.holders_of(lock));
        EXPECT_EQ(left.queue_of(lock, 0), right.queue_of(lock, 0));
      }
      EXPECT_EQ(left.sessions_after({}, 0), right.sessions_after({}, 0));
      EXPECT_EQ(left.range(RangeOperation::from("key")), right.range(RangeOperation::from("key")));
      EXPECT_EQ(left.key_space(), right.key_space());
    }
  }
}

}  // namespace coordkit::testkit
