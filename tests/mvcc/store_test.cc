#include "mvcc/store.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/random.h"

namespace coordkit::mvcc {
namespace {

constexpr std::string_view kFromKey("\0", 1);

std::vector<std::string> keys(const Store& store, std::string_view key, std::string_view end) {
  std::vector<std::string> found;
  store.range(key, end, [&](std::string_view each, const Item&) {
    found.emplace_back(each);
    return true;
  });
  return found;
}

TEST(StoreTest, S01_AFreshStoreHasRevisionOneAndEachChangeTakesTheNext) {
  Store store;
  EXPECT_EQ(store.revision(), Revision(1));
  EXPECT_EQ(store.put("a", "1"), Revision(2));
  EXPECT_EQ(store.erase("a"), 1u);
  EXPECT_EQ(store.revision(), Revision(3));
}

TEST(StoreTest, S02_VersionCountsFromOneSinceCreationAndRestartsAfterADelete) {
  Store store;
  store.put("a", "1");
  store.put("b", "1");
  store.put("a", "2");
  const Item* a = store.find("a");
  EXPECT_EQ(a->create, Revision(2));
  EXPECT_EQ(a->mod.revision, Revision(4));
  EXPECT_EQ(a->version, 2u);
  store.erase("a");
  EXPECT_EQ(store.find("a"), nullptr);
  store.put("a", "3");
  a = store.find("a");
  EXPECT_EQ(a->create, Revision(6));
  EXPECT_EQ(a->mod.revision, Revision(6));
  EXPECT_EQ(a->version, 1u);
}

TEST(StoreTest, S03_AnIdenticalPutIsAChangeAndADeleteOfNothingIsNot) {
  Store store;
  store.put("a", "1");
  EXPECT_EQ(store.put("a", "1"), Revision(3));
  EXPECT_EQ(store.erase("b"), 0u);
  EXPECT_EQ(store.revision(), Revision(3));
}

TEST(StoreTest, S05_RangesAreHalfOpenInUnsignedByteOrder) {
  Store store;
  for (const std::string key : {"a", "b", "c", "\x7f", "\x80", "\xff"}) store.put(key, "");
  EXPECT_EQ(keys(store, "b", ""), (std::vector<std::string>{"b"}));
  EXPECT_EQ(keys(store, "a", "c"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(keys(store, "c", kFromKey), (std::vector<std::string>{"c", "\x7f", "\x80", "\xff"}));
  EXPECT_EQ(keys(store, "", kFromKey).size(), 6u);
  EXPECT_EQ(keys(store, kFromKey, kFromKey).size(), 6u);
  EXPECT_TRUE(keys(store, "c", "a").empty());
  EXPECT_TRUE(keys(store, "c", "c").empty());
}

// The rows a checkpoint would hold, and what a twin of ten lines says.
struct Rows {
  std::map<ChangeId, std::pair<std::string, Item>> rows;
  void collect(Store& store) {
    store.collect([&](std::string_view key, const Item& item) { rows.emplace(item.mod, std::pair(std::string(key), item)); },
                  [&](ChangeId row) { EXPECT_EQ(rows.erase(row), 1u); });
  }
};

TEST(StoreTest, S02_RandomChangesMatchANaiveMapAndSurviveCheckpointsAndRestores) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Store store;
    std::map<std::string, std::string> naive;
    Rows rows;
    uint64_t revision = 1;
    for (int step = 0; step < 500; ++step) {
      const std::string key(1, static_cast<char>('a' + random.below(12)));
      if (random.below(3) != 0) {
        naive[key] = std::to_string(step);
        EXPECT_EQ(store.put(key, std::to_string(step)).value(), ++revision);
      } else {
        const size_t erased = naive.erase(key);
        revision += erased;
        EXPECT_EQ(store.erase(key), erased);
      }
      ASSERT_EQ(store.digest(), store.recomputed_digest());
      if (random.below(5) != 0) continue;
      rows.collect(store);
      Store copy;
      for (const auto& [change, row] : rows.rows) ASSERT_TRUE(copy.restore(row.first, row.second).ok());
      ASSERT_TRUE(copy.restored(store.revision()).ok());
      ASSERT_EQ(copy.digest(), store.digest());
      ASSERT_EQ(rows.rows.size(), naive.size());
      if (random.below(2) == 0) store = std::move(copy);
    }
    EXPECT_EQ(store.revision().value(), revision);
    ASSERT_EQ(store.size(), naive.size());
    for (const auto& [key, value] : naive) EXPECT_EQ(store.find(key)->value, value);
  }
}

TEST(StoreTest, AKeyThatCameAndWentBetweenCheckpointsTouchesNoRow) {
  Store store;
  store.put("a", "1");
  store.erase("a");
  store.collect([](std::string_view, const Item&) { FAIL(); }, [](ChangeId) { FAIL(); });
}

TEST(StoreTest, ImpossibleRowsAreRefused) {
  const auto restore = [](Item item) { return Store().restore("k", std::move(item)).code(); };
  const auto bad = absl::StatusCode::kDataLoss;
  EXPECT_EQ(restore({"v", Revision(0), {Revision(2)}, 1}), bad);
  EXPECT_EQ(restore({"v", Revision(3), {Revision(2)}, 1}), bad);
  EXPECT_EQ(restore({"v", Revision(2), {Revision(2)}, 0}), bad);
  EXPECT_EQ(restore({"v", Revision(2), {Revision(3)}, 3}), bad);
  Store store;
  ASSERT_TRUE(store.restore("k", {"v", Revision(2), {Revision(3)}, 2}).ok());
  EXPECT_EQ(store.restore("k", {"v", Revision(4), {Revision(4)}, 1}).code(), bad);
  EXPECT_EQ(store.restored(Revision(2)).code(), bad);
}

}  // namespace
}  // namespace coordkit::mvcc
