#include "base/handle_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace coordkit {
namespace {

TEST(HandlePoolTest, HandlesAreReusedAndTheLastOneGivesTheMemoryBack) {
  HandlePool<uint64_t> pool;
  const auto add = [&pool](uint64_t record) {
    const auto handle = pool.add();
    pool[handle] = record;
    return handle;
  };
  std::vector<HandlePool<uint64_t>::Handle> handles;
  for (uint64_t i = 0; i < 5000; ++i) handles.push_back(add(i));
  for (uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(pool[handles[i]], i);
  pool.remove(handles[17]);
  EXPECT_EQ(add(99), handles[17]);
  for (const auto handle : handles) pool.remove(handle);
  EXPECT_EQ(add(1), handles[0]) << "as new";
}

TEST(HandlePoolTest, WhatARecordOwnsGoesWithIt) {
  const auto owned = std::make_shared<int>(7);
  {
    HandlePool<std::shared_ptr<int>> pool;
    const auto first = pool.add(), second = pool.add();
    pool[first] = owned;
    pool[second] = owned;
    pool.remove(first);
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace coordkit
