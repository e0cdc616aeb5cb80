// A disk that loses what a running replica stored there: the state in memory is the truth, and no replica stops.
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct StateRepairTest : ThreeReplicas {
  Cluster made{3, [](EngineOptions& options) {
                 options.checkpoint_entries = 5;
                 options.raft.log_retained_bytes = 0;
                 options.state_chunk_bytes = 1;  // one row at a time
               }};
  void SetUp() override { born(made); }

  void work(int commands) {
    for (int i = 0; i < commands; ++i) made.run(leader, "add 1");
  }
  // `third` misses so much that no log still has it.
  void leave_behind() {
    made.filter = [this](ReplicaId from, ReplicaId to, const Message&) { return from.value() != third && to.value() != third; };
    made.pass(5s);  // a recently heard member would find its log
    work(30);
    ASSERT_GT(made.node(leader).disk.base.index, made.engine(third).core()->status().last.index);
  }
  bool level() {
    return made.engine(third).applied() == made.engine(leader).applied() &&
           made.engine(third).status().digest == made.engine(leader).status().digest;
  }
  bool warns_of(uint64_t id, std::string_view word) {
    for (const std::string& warning : made.engine(id).status().warnings) {
      if (warning.find(word) != std::string::npos) return true;
    }
    return false;
  }
};

// Covers: FLT_D08
TEST_F(StateRepairTest, ALeaderThatMeetsARottenRowWritesItsStateAnewAndTheNewMemberGoesOn) {
  leave_behind();
  made.node(leader).rotten = true;
  made.filter = {};
  ASSERT_TRUE(made.until([&] { return level(); }));
  EXPECT_FALSE(made.node(leader).halted);
  EXPECT_FALSE(made.node(leader).rotten) << "a whole checkpoint took its place";
  EXPECT_EQ(made.engine(leader).leadership().role, raft::Role::Leader);
  EXPECT_TRUE(warns_of(leader, "written again from memory"));
  EXPECT_EQ(made.node(third).restored.size(), 1u);
  made.crash(leader);
  made.start(leader);
  ASSERT_TRUE(made.until([&] { return made.engine(leader).status().digest == made.engine(third).status().digest; }))
      << "what was written is the whole state";
}

// Covers: FLT_D08
TEST_F(StateRepairTest, RowsThatRotOnEveryReplicaAreAllMended) {
  leave_behind();
  for (const uint64_t id : {leader, follower, third}) made.node(id).rotten = true;
  made.filter = {};
  ASSERT_TRUE(made.until([&] { return level(); }));
  for (const uint64_t id : {leader, follower, third}) {
    made.post(id, StateDamaged{absl::DataLossError("a row is rotten")});
    ASSERT_TRUE(made.until([&] { return !made.node(id).rotten; })) << id;
    EXPECT_FALSE(made.node(id).halted) << id;
  }
  EXPECT_EQ(made.run(leader, "add 1"), "31");
}

// Covers: FLT_D15
TEST_F(StateRepairTest, AStoreThatHasLostEverythingGetsAWholeCheckpointAtOnce) {
  work(3);
  const size_t before = made.node(follower).checkpoints_taken;
  made.node(follower).disk.table = Table();
  made.post(follower, StateDamaged{absl::DataLossError("the file is gone")});
  made.run_until_idle();
  EXPECT_EQ(made.node(follower).checkpoints_taken, before + 1) << "it waits for no more entries";
  made.crash(follower);
  made.start(follower);
  ASSERT_TRUE(made.until([&] { return made.engine(follower).status().digest == made.engine(leader).status().digest; }));
}

// Covers: FLT_D22 INV_S10
TEST_F(StateRepairTest, ACheckpointThatFailsOnItsWayIsFollowedByAWholeOne) {
  made.node(leader).checkpoints = false;
  work(7);
  const size_t before = made.node(leader).checkpoints_taken;
  ASSERT_GT(before, 0u) << "one is on its way";
  for (size_t failures = 1; failures <= 3; ++failures) {
    if (failures == 3) made.node(leader).checkpoints = true;
    made.post(leader, StateDamaged{absl::DataLossError("input/output error")});
    made.run_until_idle();
    EXPECT_EQ(made.node(leader).checkpoints_taken, before + failures);
  }
  EXPECT_FALSE(made.node(leader).halted);
  EXPECT_EQ(made.engine(leader).status().checkpointed, made.engine(leader).applied());
}

// Covers: FLT_D22
TEST_F(StateRepairTest, AnErrorOfTheCheckpointIsAWarningUntilAWholeOneIsDurable) {
  const absl::Status error = make_error(Reason::StorageFailed, "cannot sync: input/output error");
  made.node(leader).checkpoints = false;
  made.post(leader, StateDamaged{error});
  made.post(leader, StateWaits{error});
  made.run_until_idle();
  const std::vector<std::string> warnings = made.engine(leader).status().warnings;
  ASSERT_EQ(warnings.size(), 1u) << "said once";
  for (const char* part : {"input/output error", "nothing is lost", "check this disk"}) {
    EXPECT_NE(warnings[0].find(part), std::string::npos) << warnings[0];
  }
  made.node(leader).checkpoints = true;
  made.post(leader, StateDamaged{error});
  made.run_until_idle();
  EXPECT_TRUE(made.engine(leader).status().warnings.empty()) << "it works again";
}

// Covers: FLT_D08
TEST_F(StateRepairTest, WhatWasStagedInADamagedStoreIsFetchedAnew) {
  leave_behind();
  size_t chunks = 0;
  made.filter = [&](ReplicaId, ReplicaId to, const Message& message) {
    if (to.value() != third || !std::holds_alternative<StateChunk>(message) || ++chunks != 2) return true;
    made.node(third).disk.table.staged.clear();
    made.post(third, StateDamaged{absl::DataLossError("a page is rotten")});
    return true;
  };
  ASSERT_TRUE(made.until([&] { return level(); }, 60s));
  EXPECT_FALSE(made.node(third).halted);
}

TEST_F(StateRepairTest, AMachineThatCannotWriteItsRowsAnewEndsTheReplicaWithItsName) {
  made.node(follower).counter->cannot_write_anew = true;
  work(1);
  made.post(follower, StateDamaged{absl::DataLossError("a page is rotten")});
  ASSERT_TRUE(made.until([&] { return made.node(follower).halted.has_value(); }));
  for (const char* part : {"machine 1", "forget_stored", "replace this member"}) {
    EXPECT_NE(made.node(follower).halted->message().find(part), std::string::npos) << *made.node(follower).halted;
  }
}

// Covers: FLT_D04
TEST_F(StateRepairTest, NoLogGoesWhileItsCheckpointWaitsForRoom) {
  work(7);
  made.node(leader).checkpoints = false;
  made.post(leader, StateWaits{absl::UnavailableError("the disk is full")});
  const Index base = made.node(leader).disk.base.index;
  work(30);
  EXPECT_TRUE(warns_of(leader, "the disk is full"));
  EXPECT_EQ(made.node(leader).disk.base.index, base);
  EXPECT_FALSE(made.node(leader).halted);
  made.post(leader, StateWaits{absl::OkStatus()});
  made.run_until_idle();
  EXPECT_FALSE(warns_of(leader, "the disk is full"));
  made.crash(leader);
  made.start(leader);
  ASSERT_TRUE(made.until([&] { return made.engine(leader).applied() == made.engine(follower).applied(); }));
}

// Covers: FLT_D06
TEST_F(StateRepairTest, RottenEntriesThatWereAppliedAreLeftBehindByACheckpoint) {
  work(7);
  const Index applied = made.engine(leader).applied();
  ASSERT_LT(made.node(leader).disk.table.applied().index, applied);
  made.post(leader, LogDamaged{applied, applied, absl::DataLossError("an entry is rotten")});
  ASSERT_TRUE(made.until([&] { return made.node(leader).disk.table.applied().index >= applied; }));
  EXPECT_FALSE(made.node(leader).halted);
  EXPECT_TRUE(warns_of(leader, "entries of the log"));
}

// They are in memory until they are applied, and then a checkpoint replaces them.
// Covers: FLT_D06
TEST_F(StateRepairTest, RottenEntriesThatAreNotAppliedYetWaitForTheCheckpointThatHoldsThem) {
  work(7);
  made.filter = [](ReplicaId, ReplicaId, const Message&) { return false; };
  made.submit(leader, "add 1");
  made.run_until_idle();
  const Index last = made.engine(leader).core()->status().last.index;
  ASSERT_GT(last, made.engine(leader).applied());
  made.post(leader, LogDamaged{last, last, absl::DataLossError("an entry is rotten")});
  made.run_until_idle();
  EXPECT_TRUE(warns_of(leader, "a checkpoint takes their place"));
  EXPECT_LT(made.node(leader).disk.table.applied().index, last);
  made.filter = nullptr;
  ASSERT_TRUE(made.until([&] { return made.node(leader).disk.table.applied().index >= last; }));
  EXPECT_FALSE(made.node(leader).halted);
  EXPECT_TRUE(warns_of(leader, "were replaced by the checkpoint"));
}

}  // namespace
}  // namespace coordkit::engine
