#include "base/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "base/random.h"

namespace coordkit {
namespace {

TEST(RingTest, DoesWhatADequeDoes) {
  Random random(4);
  Ring<std::string> ring;
  std::deque<std::string> twin;
  for (int step = 0; step < 20'000; ++step) {
    if (random.chance(0.51)) {
      const std::string value = "a value that is no short string " + std::to_string(step);
      EXPECT_EQ(ring.push_back(value), value);
      twin.push_back(value);
    } else if (!twin.empty()) {
      ASSERT_EQ(ring.take_front(), twin.front());
      twin.pop_front();
    }
    ASSERT_EQ(ring.size(), twin.size());
    if (twin.empty()) continue;
    const size_t at = random.below(twin.size());
    ASSERT_EQ(ring[at], twin[at]);
    ASSERT_EQ(ring.front(), twin.front());
    ASSERT_EQ(ring.back(), twin.back());
  }
  Ring<std::string> moved = std::move(ring);
  EXPECT_TRUE(ring.empty());  // NOLINT(bugprone-use-after-move): so it is promised
  EXPECT_EQ(moved.size(), twin.size());
  moved.clear();
  EXPECT_TRUE(moved.empty());
}

TEST(RingTest, WhatHasLeftIsLetGo) {
  const auto shared = std::make_shared<int>(1);
  Ring<std::shared_ptr<int>> ring;
  for (int i = 0; i < 10; ++i) ring.push_back(shared);
  for (int i = 0; i < 10; ++i) ring.pop_front();
  EXPECT_EQ(shared.use_count(), 1);
}

}  // namespace
}  // namespace coordkit
