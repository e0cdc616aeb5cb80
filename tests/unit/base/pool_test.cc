#include "base/pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace coordkit {
namespace {

struct Node {
  std::shared_ptr<int> kept;
  PoolRef<Node> next = {};
};

TEST(PoolTest, ARecordLivesAsLongAsAnyReference) {
  const auto kept = std::make_shared<int>(5);
  Pool<Node> pool;
  PoolRef<Node> first = pool.make({kept});
  PoolRef<Node> second = first;
  first = nullptr;
  EXPECT_FALSE(first);
  EXPECT_EQ(*second->kept, 5);
  EXPECT_EQ(kept.use_count(), 2);
  second = {};
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(PoolTest, ARecordIsMadeWhereAnEndedOneWas) {
  Pool<Node> pool;
  std::set<const Node*> places;
  for (int round = 0; round < 1000; ++round) {
    std::vector<PoolRef<Node>> some;
    for (int i = 0; i < 8; ++i) places.insert(&*some.emplace_back(pool.make({})));
  }
  EXPECT_EQ(places.size(), 8u);
}

TEST(PoolTest, AReferenceMayOutliveThePool) {
  const auto kept = std::make_shared<int>(7);
  PoolRef<Node> last;
  {
    std::optional<Pool<Node>> pool(std::in_place);
    last = pool->make({kept});
    pool.reset();
  }
  EXPECT_EQ(*last->kept, 7);
  last = {};
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(PoolTest, WhatARecordRefersToGoesWithIt) {
  const auto kept = std::make_shared<int>(1);
  Pool<Node> pool;
  PoolRef<Node> chain;
  for (int i = 0; i < 100; ++i) chain = pool.emplace(kept, std::move(chain));
  EXPECT_EQ(kept.use_count(), 101);
  chain = {};
  EXPECT_EQ(kept.use_count(), 1);
}

struct Other {
  std::shared_ptr<int> kept;
};

TEST(PoolTest, AReferenceToTwoKindsHasTheSizeOfAPointerAndFreesWhatItLeaves) {
  using Either = PoolRefOfTwo<Node, Other>;
  static_assert(sizeof(Either) == sizeof(void*));
  const auto node = std::make_shared<int>(1);
  const auto other = std::make_shared<int>(2);
  Pool<Node> nodes;
  Pool<Other> others;
  {
    Either either = nodes.make({node});
    EXPECT_EQ(either.first()->kept, node);
    EXPECT_FALSE(either.second());
    either = others.make({other});
    EXPECT_EQ(node.use_count(), 1) << "the record before has no user any more";
    EXPECT_FALSE(either.first());
    const PoolRef<Other> copy = either.second();
    const Either moved = std::move(either);
    EXPECT_EQ(&*moved.second(), &*copy);
    EXPECT_FALSE(either.first() || either.second());  // NOLINT: it was moved from
    EXPECT_EQ(other.use_count(), 2);
  }
  EXPECT_EQ(other.use_count(), 1);
}

TEST(PoolTest, ManyRecordsOfSeveralPagesComeAndGo) {
  Pool<Node> pool;
  std::set<const Node*> places;
  for (int round = 0; round < 3; ++round) {
    std::vector<PoolRef<Node>> all;
    for (int i = 0; i < 10'000; ++i) {
      all.push_back(pool.make({std::make_shared<int>(i)}));
      places.insert(&*all.back());
    }
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(*all[static_cast<size_t>(i)]->kept, i);
  }
  EXPECT_EQ(places.size(), 10'000u);
}

}  // namespace
}  // namespace coordkit
