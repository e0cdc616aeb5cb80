#include "coordkit/ports/row_table.h"

#include <gtest/gtest.h>

#include <map>

#include "base/check.h"
#include "base/random.h"
#include "coordkit/engine/engine.h"
#include "tests/unit/engine/counter.h"

namespace coordkit::engine {
namespace {

constexpr MachineId kMine{16};

CheckpointBatch checkpoint(RowTable& table) {
  CheckpointBatch batch;
  table.checkpoint(batch);
  return batch;
}

TEST(RowTableTest, ACheckpointHoldsWhatChangedAndNothingElse) {
  RowTable table(kMine);
  table.put("a", "1");
  table.put("b", "2");
  EXPECT_EQ(checkpoint(table).rows.size(), 2u);
  EXPECT_TRUE(checkpoint(table).rows.empty());
  table.put("a", "1");  // as it was
  EXPECT_TRUE(checkpoint(table).rows.empty());
  table.put("a", "3");
  table.erase("b");
  table.put("gone", "x");
  table.erase("gone");
  const CheckpointBatch batch = checkpoint(table);
  const std::vector<CheckpointBatch::Row> expected = {{row_prefix(kMine) + "a", "3"}, {row_prefix(kMine) + "b", std::nullopt}};
  EXPECT_EQ(batch.rows, expected);
}

TEST(RowTableTest, ARowThatIsErasedAndPutAgainIsPut) {
  RowTable table(kMine);
  table.put("a", "1");
  checkpoint(table);
  table.erase("a");
  table.put("a", "2");
  const std::vector<CheckpointBatch::Row> expected = {{row_prefix(kMine) + "a", "2"}};
  EXPECT_EQ(checkpoint(table).rows, expected);
}

TEST(RowTableTest, RestoreTakesTheRowsOfItsOwnMachineOnly) {
  RowTable mine(kMine), other(MachineId(17)), copy(kMine);
  Table store;
  mine.put("a", "1");
  other.put("a", "9");
  CheckpointBatch batch;
  mine.checkpoint(batch);
  other.checkpoint(batch);
  store.commit(batch);
  copy.put("former", "state");
  ASSERT_TRUE(copy.restore(store).ok());
  EXPECT_EQ(copy.size(), 1u);
  EXPECT_EQ(*copy.find("a"), "1");
  EXPECT_EQ(copy.digest(), mine.digest());
  EXPECT_TRUE(checkpoint(copy).rows.empty());
}

TEST(RowTableTest, AnIdBeyondTheLimitIsACheckFailure) {
  RowTable table(kMine);
  table.put(std::string(kRowIdBytesMax, 'i'), "1");
  EXPECT_THROW(table.put(std::string(kRowIdBytesMax + 1, 'i'), "1"), CheckFailure);
}

TEST(RowTableTest, EachVisitsAPrefixInByteOrder) {
  RowTable table(kMine);
  for (const char* id : {"b", "a2", "a\xff", "a1", ""}) table.put(id, id);
  std::vector<std::string> seen;
  table.each("a", [&](std::string_view id, std::string_view) { seen.emplace_back(id); });
  EXPECT_EQ(seen, (std::vector<std::string>{"a1", "a2", "a\xff"}));
}

// Against a plain map, with checkpoints at random and copies restored from them.
TEST(RowTableTest, BehavesLikeAMapAndRestoresToItself) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RowTable table(kMine);
    std::map<std::string, std::string> naive;
    Table store;
    for (int step = 0; step < 500; ++step) {
      const std::string id = std::to_string(random.below(20));
      if (random.below(3) == 0) {
        EXPECT_EQ(table.erase(id), naive.erase(id) == 1);
      } else {
        const std::string value = std::to_string(random.below(3));
        table.put(id, value);
        naive[id] = value;
      }
      if (random.below(10) != 0) continue;
      const CheckpointBatch batch = checkpoint(table);
      for (const auto& row : batch.rows) EXPECT_TRUE(row.value || store.rows.contains(row.key)) << "erases what is not there";
      store.commit(batch);
      RowTable copy(kMine);
      ASSERT_TRUE(copy.restore(store).ok());
      std::map<std::string, std::string> rows;
      copy.each("", [&](std::string_view row, std::string_view value) { rows.emplace(row, value); });
      EXPECT_EQ(rows, naive);
      EXPECT_EQ(copy.digest(), table.digest());
    }
  }
}

}  // namespace
}  // namespace coordkit::engine
