// The rows of origins in a checkpoint: what each feature level has, and that a state is the same in either form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/fixed.h"
#include "engine/apply/router_meta.h"
#include "tests/proof/golden/hex.h"
#include "tests/support/source_dir.h"
#include "tests/unit/engine/router_rig.h"

namespace coordkit::engine {
namespace {

// A replica whose state is of this feature level.
struct LeveledRig : Rig {
  explicit LeveledRig(uint64_t level) {
    if (level != 0) raise(level);
    enroll(kOne);
    enroll(kTwo);
  }
  void raise(uint64_t level) { command(encode(RaiseLevel{level})); }
  void checkpoint(Table& table) {
    CheckpointBatch batch;
    router->checkpoint(batch);
    table.commit(batch);
  }
};

// A line a row, without what all have in common.
std::string origin_rows(const Table& table) {
  std::string lines;
  for (const auto& [key, value] : table.rows) {
    if (key.starts_with(origins_prefix())) lines += hex(key.substr(origins_prefix().size())) + " " + hex(value) + "\n";
  }
  return lines;
}

// Bytes that must never change without a new feature level.
void expect_as_ever(const std::string& name, const std::string& rows) {
  const std::string path = source_dir() + "/tests/proof/golden/" + name;
  if (std::getenv("COORDKIT_REWRITE_GOLDEN") != nullptr) std::ofstream(path) << rows;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(rows, golden.str()) << name;
}

void answer_all_kinds(Rig& rig) {
  rig.ask(kOne, 1, "result 256");
  rig.ask(kOne, 3, "result 257");
  rig.ask(kOne, 4, "add 1", 1, kCoordination, Request::GuardView{kCoordination, "9"});
  rig.ask(kTwo, 1, "wait");
  rig.ask(kTwo, 7, "result 300", 6);
}

// Builds of before level 4 read these rows.
// Covers: INV_S08
TEST(AnswerRowsTest, BeforeTheirLevelRowsAreByteForByteAsEver) {
  LeveledRig rig(3);
  Table table;
  answer_all_kinds(rig);
  rig.checkpoint(table);
  expect_as_ever("origin_rows_level3.hex", origin_rows(table));
}

TEST(AnswerRowsTest, GoldenRowsOfTheirLevelAreAsEver) {
  LeveledRig rig(Origins::kAnswerRowsLevel);
  Table table;
  answer_all_kinds(rig);
  rig.checkpoint(table);
  expect_as_ever("origin_rows_level4.hex", origin_rows(table));
}

// Stored answers change their form, whether they were restored from rows of before or not, and mean the same.
// Covers: S-44 INV_L09
TEST(AnswerRowsTest, ARaiseOfTheLevelMovesLargeAnswersToRowsOfTheirOwn) {
  LeveledRig plain(Origins::kAnswerRowsLevel - 1), always(Origins::kAnswerRowsLevel);
  Table before, there;
  answer_all_kinds(plain);
  answer_all_kinds(always);
  plain.checkpoint(before);
  always.checkpoint(there);
  for (const bool restored : {false, true}) {
    Rig again(false);
    ASSERT_TRUE(!restored || again.router->restore(before).ok());
    Rig& rig = restored ? again : plain;
    rig.command(encode(RaiseLevel{Origins::kAnswerRowsLevel}));
    Table now = before;
    CheckpointBatch batch;
    rig.router->checkpoint(batch);
    now.commit(batch);
    EXPECT_EQ(origin_rows(now), origin_rows(there)) << restored;
    Rig after(false);
    ASSERT_TRUE(after.router->restore(now).ok());
    EXPECT_EQ(after.router->digest(), rig.router->digest());
    EXPECT_EQ(after.ask(kOne, 3, "result 257").bytes.size(), 257u) << "the stored answer";
    EXPECT_EQ(after.counter().executed().size(), rig.counter().executed().size()) << "and executed nothing";
    EXPECT_EQ(after.ask(kOne, 4, "add 1", 1, kCoordination, Request::GuardView{kCoordination, "9"}).refused, Reason::Fenced);
  }
}

// Covers: FLT_D08
TEST(AnswerRowsTest, AWholeCheckpointHasThemAll) {
  LeveledRig rig(Origins::kAnswerRowsLevel);
  Table table;
  answer_all_kinds(rig);
  rig.checkpoint(table);
  rig.ask(kTwo, 8, "result 400", 8);  // and retires the one before
  CheckpointBatch whole;
  ASSERT_TRUE(rig.router->whole_checkpoint(whole).ok());
  for (const CheckpointBatch::Row& row : whole.rows) {
    EXPECT_TRUE(row.value || !row.key.starts_with(origins_prefix())) << "nothing is erased";
  }
  Table anew;
  anew.commit(whole);
  CheckpointBatch batch;
  rig.router->checkpoint(batch);
  anew.commit(batch);
  EXPECT_EQ(std::ranges::count_if(anew.rows, [](const auto& row) { return row.first.size() == origins_prefix().size() + 16; }),
            2);
  Rig after(false);
  ASSERT_TRUE(after.router->restore(anew).ok());
  EXPECT_EQ(after.ask(kTwo, 8, "result 400", 8).bytes.size(), 400u);
  EXPECT_EQ(after.router->digest(), rig.router->digest());
}

raft::Configuration without_two() { return {.voters = {{ReplicaId(1), StoreId(11), "a"}}}; }
raft::Configuration leaving() {
  return {.voters = without_two().voters, .outgoing = genesis().configuration.voters, .learners = {}};
}

// All rows of the origin, that it is one and those of its answers.
size_t rows_of(const Origin& origin, const Table& table) {
  std::string key(origins_prefix());
  append_sortable(key, origin.replica.value());
  return static_cast<size_t>(std::ranges::count_if(table.rows, [&](const auto& row) { return row.first.starts_with(key); }));
}

// Covers: S-43 FLT_O05
TEST(AnswerRowsTest, WhoIsNoMemberAnyMoreLeavesNoAnswers) {
  LeveledRig rig(Origins::kMembersOnlyLevel);
  Table table;
  answer_all_kinds(rig);
  rig.ask(kTwo, 8, "result 300", 6);
  rig.checkpoint(table);
  EXPECT_EQ(rows_of(kTwo, table), 3u);
  rig.add(raft::EntryKind::Configuration, coordkit::encode(leaving()));
  EXPECT_EQ(rig.ask(kTwo, 8, "result 300", 6).bytes.size(), 300u) << "it votes until it has left";
  rig.add(raft::EntryKind::Configuration, coordkit::encode(without_two()));
  rig.checkpoint(table);
  EXPECT_EQ(rows_of(kTwo, table), 1u);
  EXPECT_LT(table.rows.at(std::string(origins_prefix()) + std::string(7, '\0') + '\2').size(), 40u);
  EXPECT_EQ(rows_of(kOne, table), 2u) << "the others keep theirs";

  Rig after(false);
  ASSERT_TRUE(after.router->restore(table).ok());
  EXPECT_EQ(after.router->digest(), rig.router->digest());
  for (Rig* each : {static_cast<Rig*>(&rig), &after}) {
    const size_t executed = each->counter().executed().size();
    EXPECT_EQ(each->ask(kTwo, 8, "result 300", 6).refused, Reason::SequenceRetired) << "a copy of before";
    EXPECT_EQ(each->ask(kTwo, 7, "add 1", 6).refused, Reason::SequenceRetired);
    EXPECT_EQ(each->counter().executed().size(), executed);
    EXPECT_EQ(each->ask(kTwo, 9, "result 5", 6).bytes.size(), 5u) << "one that was in the log behind the removal";
    EXPECT_EQ(each->ask(kTwo, 9, "result 5", 6).bytes.size(), 5u);
    EXPECT_EQ(each->counter().executed().size(), executed + 1) << "and only once";
    each->add(raft::EntryKind::Configuration, coordkit::encode(genesis().configuration));
    each->enroll(kTwo);
    EXPECT_EQ(each->ask(kTwo, 8, "add 1", 6).refused, Reason::SequenceRetired) << "it comes back, and they do not";
    EXPECT_EQ(each->ask(kTwo, 10, "result 6", 10).bytes.size(), 6u);
  }
  EXPECT_EQ(after.router->digest(), rig.router->digest());
}

// Covers: INV_S08
TEST(AnswerRowsTest, BeforeItsLevelWhoHasLeftKeepsAnswersAndTheRaiseDropsThem) {
  LeveledRig rig(Origins::kMembersOnlyLevel - 1);
  Table table;
  answer_all_kinds(rig);
  rig.add(raft::EntryKind::Configuration, coordkit::encode(without_two()));
  EXPECT_EQ(rig.ask(kTwo, 7, "result 300", 6).bytes.size(), 300u);
  rig.checkpoint(table);
  EXPECT_EQ(rows_of(kTwo, table), 2u);
  Rig restored(false);
  ASSERT_TRUE(restored.router->restore(table).ok());
  for (Rig* each : {static_cast<Rig*>(&rig), &restored}) {
    each->command(encode(RaiseLevel{Origins::kMembersOnlyLevel}));
    EXPECT_EQ(each->ask(kTwo, 7, "result 300", 6).refused, Reason::SequenceRetired);
  }
  EXPECT_EQ(restored.router->digest(), rig.router->digest());
  rig.checkpoint(table);
  EXPECT_EQ(rows_of(kTwo, table), 1u);
}

// Replicas apply the same log in different batches.
// Covers: INV_L09
TEST(AnswerRowsTest, AnswersOfWhoLeavesAreDroppedAtTheEntryNotAtTheEndOfABatch) {
  std::vector<uint64_t> digests;
  for (const bool at_once : {false, true}) {
    LeveledRig rig(Origins::kMembersOnlyLevel);
    const auto entry = [&](raft::EntryKind kind, std::string payload) {
      rig.queue(kind, std::move(payload));
      if (!at_once) rig.flush();
    };
    const auto asks = [&](uint64_t sequence) {
      entry(raft::EntryKind::Command, encode(Request{{kTwo, Sequence(sequence)}, Sequence(1), kCoordination, "result 300"}));
    };
    asks(1);
    asks(2);
    entry(raft::EntryKind::Configuration, coordkit::encode(without_two()));
    asks(2);
    asks(3);
    rig.flush();
    EXPECT_EQ(rig.counter().executed().size(), 3u) << at_once;
    digests.push_back(rig.router->digest());
  }
  EXPECT_EQ(digests[0], digests[1]);
}

}  // namespace
}  // namespace coordkit::engine
