#include "client/keys/compactor.h"

#include "machine/command.h"
#include "tests/unit/client/two_members.h"

namespace coordkit::test {
namespace {

using client::Compactor;

LaggingTime at(Duration time) { return LaggingTime(1h + time); }

// Covers: S-20
TEST(CompactorTest, WithoutAPolicyItIsOff) { EXPECT_FALSE(Compactor({}).on()); }

// Covers: S-20
TEST(CompactorTest, ByCountTheNewestRevisionsAreKept) {
  Compactor compactor({.revisions = 100});
  EXPECT_TRUE(compactor.on());
  EXPECT_EQ(compactor.due(at(0s), Revision(100), Revision()), Revision());
  EXPECT_EQ(compactor.due(at(1s), Revision(101), Revision()), Revision(1));
  EXPECT_EQ(compactor.due(at(2s), Revision(500), Revision(1)), Revision(400));
  EXPECT_EQ(compactor.due(at(3s), Revision(500), Revision(400)), Revision()) << "nothing new";
  EXPECT_EQ(compactor.due(at(4s), Revision(500), Revision(450)), Revision()) << "another client compacted further";
}

// Covers: S-20
TEST(CompactorTest, ByAgeWhatWasNewestLongEnoughAgoIsKeptAndAllBeforeItGoes) {
  Compactor compactor({.age = 10min});
  EXPECT_EQ(compactor.interval(), 1min);
  Revision compacted;
  for (int minute = 0; minute < 60; ++minute) {
    const Revision due = compactor.due(at(minute * 1min), Revision(1 + 10 * static_cast<uint64_t>(minute)), compacted);
    EXPECT_EQ(due, minute < 10 ? Revision() : Revision(1 + 10 * static_cast<uint64_t>(minute - 10))) << minute;
    if (due) compacted = due;
  }
  for (int minute = 60; minute < 90; ++minute) {
    if (const Revision due = compactor.due(at(minute * 1min), Revision(591), compacted)) compacted = due;
  }
  EXPECT_EQ(compacted, Revision(591)) << "when nothing changes any more, the newest is old at last";
}

// Covers: S-20
TEST(CompactorTest, ALeaderCountsTheAgeFromItsOwnTakeover) {
  Compactor compactor({.age = 10min});
  compactor.due(at(0min), Revision(50), Revision());
  compactor.forget();
  EXPECT_EQ(compactor.due(at(11min), Revision(60), Revision()), Revision());
  EXPECT_EQ(compactor.due(at(21min), Revision(70), Revision()), Revision(60));
}

// Covers: S-20
TEST(CompactorTest, WithBothWhatEitherKeepsIsKept) {
  Compactor compactor({.revisions = 100, .age = 10min});
  compactor.due(at(0min), Revision(150), Revision());
  EXPECT_EQ(compactor.due(at(5min), Revision(1000), Revision()), Revision()) << "too young";
  EXPECT_EQ(compactor.due(at(10min), Revision(1000), Revision()), Revision(150));
  EXPECT_EQ(compactor.due(at(15min), Revision(1010), Revision(150)), Revision(910));
}

class CompactionTest : public ::testing::Test {
 public:
  void run(Duration by) {
    for (const Duration end = truth + by; truth < end;) {
      truth += 10ms;
      for (int i = 0; i < 2; ++i) node.turn(truth);
    }
  }
  FakeCluster cluster;
  ClientOptions options() {
    ClientOptions options;
    options.compaction = {.revisions = 10};
    return options;
  }
  struct Node {
    FakeNode engine;
    Client client;
    EngineEffects effects;
    void turn(Duration truth) {
      const Now now{LaggingTime(1h + truth), LeadingTime(2h + truth)};
      client.before_turn(now);
      engine.turn(now, effects);
      client.after_turn(now, effects);
    }
  };
  Duration truth{};
  Node node{FakeNode(cluster, 1), Client(node.engine, options()), {}};
};

// Covers: S-20
TEST_F(CompactionTest, TheLeaderCompactsThroughTheLogAndNobodyElseDoes) {
  for (int i = 0; i < 30; ++i) {
    const RequestId request{{ReplicaId(9), StoreId(9), BootCounter(1)}, Sequence(static_cast<uint64_t>(i) + 1)};
    cluster.apply(request, machine::encode(machine::Request{.body = PutOperation{.key = "a"}, .prior_releases = {}}));
  }
  run(5s);
  EXPECT_EQ(node.engine.commands, 0u) << "a follower leaves it alone";
  node.engine.lead();
  run(5s);
  EXPECT_EQ(node.engine.commands, 1u);
  Answer<RangeResult> below, at;
  node.client.keys().range({.key = "a", .revision = Revision(20)}, below.callback());
  node.client.keys().range({.key = "a", .revision = Revision(21)}, at.callback());
  run(10ms);
  EXPECT_EQ(below.reason(), Reason::Compacted);
  EXPECT_TRUE(at.ok());
  node.client.stop();
}

}  // namespace
}  // namespace coordkit::test
