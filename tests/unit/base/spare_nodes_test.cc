#include "base/spare_nodes.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/random.h"

namespace coordkit {
namespace {

TEST(SpareNodesTest, ANodeIsMadeWhereAFreedOneOfItsSizeWas) {
  NodeShelf shelf;
  void* const first = shelf.take(100);
  shelf.give_back(first, 100);
  void* const larger = shelf.take(200);
  EXPECT_NE(larger, first) << "of another size";
  EXPECT_EQ(shelf.take(89), first) << "sizes are rounded up to 88, 104 and so on";
  shelf.give_back(first, 89);
  EXPECT_EQ(shelf.take(104), first);
  shelf.give_back(first, 104);
  EXPECT_EQ(shelf.kept(88), 0u);
  EXPECT_EQ(shelf.kept(105), 0u);
  EXPECT_EQ(shelf.kept(96), 1u);
  shelf.give_back(larger, 200);
}

TEST(SpareNodesTest, OnlyTheEightNewestNodesAreKept) {
  NodeShelf shelf;
  std::vector<void*> nodes;
  for (int i = 0; i < 100; ++i) nodes.push_back(shelf.take(64));
  for (void* const node : nodes) shelf.give_back(node, 64);
  const std::vector<void*> kept(nodes.rend() - 8, nodes.rend());  // the newest first
  std::vector<void*> again;
  for (int i = 0; i < 8; ++i) again.push_back(shelf.take(64));
  EXPECT_EQ(again, kept);
  EXPECT_EQ(shelf.kept(64), 0u);
  for (void* const node : again) shelf.give_back(node, 64);
  EXPECT_EQ(shelf.kept(64), 8u);
}

TEST(SpareNodesTest, ContainersWithItBehaveAsWithout) {
  using Entry = std::pair<const uint64_t, std::string>;
  using Map = absl::btree_map<uint64_t, std::string, std::less<>, SpareNodes<Entry>>;
  const SpareNodes<std::byte> nodes;  // shared by all of them
  Random random(7);
  std::vector<Map> maps;
  std::vector<std::map<uint64_t, std::string>> models(3);
  for (size_t i = 0; i < models.size(); ++i) maps.emplace_back(nodes);
  for (int step = 0; step < 30'000; ++step) {
    const size_t one = random.below(maps.size());
    const size_t other = random.below(maps.size());
    const uint64_t key = random.below(300);
    switch (random.below(400)) {
      case 0: maps[one].clear(), models[one].clear(); break;
      case 1: std::swap(maps[one], maps[other]), std::swap(models[one], models[other]); break;
      case 2: maps[one] = Map(maps[other]), models[one] = std::map(models[other]); break;
      case 3: maps[one] = Map(), models[one] = {}; break;  // from here on with nodes of its own
      default:
        if (random.below(2) == 0) {
          maps[one].emplace(key, std::to_string(key)), models[one].emplace(key, std::to_string(key));
        } else {
          ASSERT_EQ(maps[one].erase(key), models[one].erase(key));
        }
    }
    ASSERT_TRUE(std::equal(maps[one].begin(), maps[one].end(), models[one].begin(), models[one].end()));
  }
}

TEST(SpareNodesTest, AContainerThatWasMovedFromGoesOn) {
  using Set = absl::btree_set<int, std::less<>, SpareNodes<int>>;
  Set first;
  first.insert({1, 2, 3});
  {
    const Set second = std::move(first);
    EXPECT_EQ(second.size(), 3u);
    first.clear();
    first.insert(4);  // NOLINT: what is claimed here
  }
  EXPECT_EQ(*first.begin(), 4);
}

}  // namespace
}  // namespace coordkit
