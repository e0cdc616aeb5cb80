// A log that has lost entries below its durable mark: what the checkpoint covers is dropped, the rest comes from the
// leader, and until then no replica is elected that may lack it.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct LostEntriesTest : ThreeReplicas {
  Cluster made{3, [](EngineOptions& options) { options.raft.append_bytes_max = 1; }};  // one entry a message
  void SetUp() override { born(made); }

  void work(int commands) {
    for (int i = 0; i < commands; ++i) made.run(leader, "add 1");
  }
  void restart_rotten(uint64_t id, Index index) {
    made.crash(id);
    made.node(id).disk.rotten.insert(index);
    made.start(id);
  }
  bool level(uint64_t id) {
    return made.engine(id).applied() == made.engine(leader).applied() &&
           made.engine(id).status().digest == made.engine(leader).status().digest;
  }
  Index last(uint64_t id) { return made.node(id).disk.entries.back().index; }
  bool has_own_mark(uint64_t id) {
    const Disk& disk = made.node(id).disk;
    return std::ranges::any_of(disk.peers, [&](const PeerMark& mark) { return mark.store == disk.store; });
  }
  // `third` has everything up to the returned index, the others have ten more, committed; the leader is down.
  Index ten_more_without_the_third() {
    const Index before = last(third);
    made.filter = [this](ReplicaId, ReplicaId to, const Message&) { return to.value() != third; };
    work(10);
    made.run_until_idle();
    return before;
  }
};

// Covers: FLT_D02
TEST_F(LostEntriesTest, EntriesThatAreNotInTheCheckpointComeBackFromTheLeader) {
  work(10);
  const Index lost(last(follower).value() - 5);
  restart_rotten(follower, lost);
  EXPECT_NE(made.engine(follower).status().state, ReplicaState::Quarantine);
  ASSERT_TRUE(made.until([&] { return level(follower) && last(follower) == last(leader); }));
  EXPECT_TRUE(made.node(follower).disk.rotten.empty());
  ASSERT_EQ(made.engine(follower).status().warnings.size(), 1u);
  EXPECT_THAT(made.engine(follower).status().warnings[0],
              ::testing::HasSubstr("entry " + std::to_string(lost.value()) + " of the log"));
  work(1);
  EXPECT_FALSE(has_own_mark(follower)) << "it lacks nothing any more";
  made.crash(leader);
  ASSERT_TRUE(made.until([&] { return made.leader() != 0; }));
}

// Covers: FLT_D06
TEST_F(LostEntriesTest, EntriesThatTheCheckpointCoversAreLeftBehind) {
  work(10);
  const Index applied = made.engine(follower).applied();
  made.post(follower, StateDamaged{absl::DataLossError("so that it takes a checkpoint")});
  ASSERT_TRUE(made.until([&] { return made.node(follower).disk.table.applied().index == applied; }));
  restart_rotten(follower, Index(4));
  ASSERT_TRUE(made.until([&] { return level(follower) && made.node(follower).disk.rotten.empty(); }));
  EXPECT_GE(made.node(follower).disk.base.index, applied);
  EXPECT_FALSE(has_own_mark(follower));
}

// Covers: FLT_D02
TEST_F(LostEntriesTest, NobodyIsElectedWithoutWhatTheDiskHadHeld) {
  const Index held_by_third = ten_more_without_the_third();
  made.crash(leader);
  restart_rotten(follower, held_by_third);
  made.filter = {};
  EXPECT_FALSE(made.until([&] { return made.engine(third).leadership().role == raft::Role::Leader; }, 30s));
  EXPECT_NE(made.engine(follower).leadership().role, raft::Role::Leader);
  made.start(leader);
  ASSERT_TRUE(made.until([&] { return level(follower) && level(third); }));
  EXPECT_EQ(made.read(third), "10");
}

// Covers: FLT_D02
TEST_F(LostEntriesTest, TheFloorOutlivesARestart) {
  const Index held_by_third = ten_more_without_the_third();
  made.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    const auto* append = std::get_if<raft::AppendRequest>(&message);
    const bool more = append && !append->entries.empty() && made.node(follower).disk.rotten.empty();
    return to.value() != third && !(to.value() == follower && more);
  };
  restart_rotten(follower, held_by_third);
  ASSERT_TRUE(made.until([&] { return made.node(follower).disk.rotten.empty(); }));
  EXPECT_EQ(last(follower), held_by_third) << "one entry has come back";
  EXPECT_TRUE(has_own_mark(follower));
  made.crash(leader);
  made.crash(follower);
  made.start(follower);
  made.filter = {};
  EXPECT_FALSE(made.until([&] { return made.engine(third).leadership().role == raft::Role::Leader; }, 30s));
  made.start(leader);
  ASSERT_TRUE(made.until([&] { return level(follower) && level(third); }));
  EXPECT_EQ(made.read(third), "10");
}

// Covers: FLT_D19
TEST_F(LostEntriesTest, WithoutAnotherCopyItWaitsAndSaysWhichEntry) {
  Cluster alone(1);
  alone.start(1);
  ASSERT_EQ(alone.leader(), 1u);
  for (int i = 0; i < 5; ++i) alone.run(1, "add 1");
  alone.crash(1);
  alone.node(1).disk.rotten.insert(Index(4));
  alone.start(1);
  alone.pass(30s);
  EXPECT_EQ(alone.engine(1).status().state, ReplicaState::Starting);
  EXPECT_THAT(alone.engine(1).status().reason, ::testing::HasSubstr("entry 4 of the log on this disk had rotted"));
}

}  // namespace
}  // namespace coordkit::engine
