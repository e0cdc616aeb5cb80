#include "base/row_sums.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

using Rows = std::vector<CheckpointBatch::Row>;

TEST(KeyRangeTest, RangesThatFollowEachOtherCoverEveryKeyOnce) {
  const std::vector<KeyRange> ranges = {{"", "b"}, {"b", "bb"}, {"bb", ""}};
  for (const std::string key : {"a", "b", "ba", "bb", "bbb", "c", "\xff"}) {
    int covered = 0;
    for (const KeyRange& range : ranges) covered += range.contains(key);
    EXPECT_EQ(covered, 1) << key;
  }
}

TEST(RowDigestTest, RemovingUndoesAddingInAnyOrder) {
  RowDigest digest;
  digest.add("a", 1);
  const RowDigest before = digest;
  digest.add("b", 2);
  digest.add("c", 3);
  EXPECT_NE(digest, before);
  digest.remove("b", 2);
  digest.remove("c", 3);
  EXPECT_EQ(digest, before);
  EXPECT_EQ(digest.value(), before.value());
  EXPECT_NE(digest.value(), RowDigest().value());
}

// Covers: FLT_D08
TEST(ChunkTest, EveryPartOfAChunkIsInItsSum) {
  const KeyRange range{"a", "d"};
  const Rows rows = {{"b", "1"}, {"c", ""}};
  const uint64_t sum = chunk_sum(range, rows);
  EXPECT_NE(chunk_sum({"", "d"}, rows), sum);
  EXPECT_NE(chunk_sum({"a", ""}, rows), sum);
  EXPECT_NE(chunk_sum({"a", "dd"}, rows), sum);
  EXPECT_NE(chunk_sum(range, Rows{{"b", "1"}}), sum);
  EXPECT_NE(chunk_sum(range, Rows{{"b", ""}, {"c", "1"}}), sum);
  EXPECT_NE(chunk_sum(range, Rows{{"b1", ""}, {"c", ""}}), sum);
  EXPECT_NE(chunk_sum(range, Rows{{"b", "1c"}}), sum);
  EXPECT_EQ(chunk_sum(range, Rows(rows)), sum);
}

TEST(ChunkTest, OnlyAscendingRowsOfTheRangeWithValuesCanBeStaged) {
  const KeyRange range{"a", "d"};
  EXPECT_TRUE(check_chunk(range, {}).ok());
  EXPECT_TRUE(check_chunk(range, Rows{{"aa", ""}, {"b", "1"}, {"d", "2"}}).ok());
  EXPECT_TRUE(check_chunk({"", ""}, Rows{{"\xff", "1"}}).ok());
  EXPECT_TRUE(check_chunk({"", ""}, Rows{{std::string(64, 'k'), "1"}}).ok());
  for (const Rows& rows :
       {Rows{{"a", "before"}}, Rows{{"da", "behind"}}, Rows{{"c", "1"}, {"b", "2"}}, Rows{{"b", "1"}, {"b", "2"}},
        Rows{{"b", std::nullopt}}, Rows{{"b" + std::string(64, 'k'), "long"}}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(check_chunk(range, rows))) << rows[0].key;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(check_chunk({"", ""}, Rows{{"", "no key"}})));
  EXPECT_TRUE(absl::IsInvalidArgument(check_chunk({"b", "b"}, {})));
  EXPECT_TRUE(absl::IsInvalidArgument(check_chunk({"c", "b"}, {})));
}

}  // namespace
}  // namespace coordkit
