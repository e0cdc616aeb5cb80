#include "base/deadlines.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"

namespace coordkit {
namespace {

using namespace std::chrono_literals;
using Twin = std::set<std::pair<LaggingTime, uint64_t>>;

LaggingTime at(uint64_t us) { return LaggingTime(std::chrono::microseconds(us)); }

TEST(DeadlinesTest, MatchesAnOrderedSetOfTheDeadlinesThatHaveNotEnded) {
  Random random(9);
  Deadlines<uint64_t> deadlines;
  Twin twin;
  const auto stands = [&](LaggingTime when, uint64_t id) { return twin.contains({when, id}); };
  LaggingTime now{};
  for (uint64_t id = 1; id < 30'000; ++id) {
    now += std::chrono::microseconds(random.below(20));
    const LaggingTime when = now + std::chrono::microseconds(random.below(2'000));
    deadlines.add(when, id);
    twin.emplace(when, id);
    while (twin.size() > 200) {  // most end before their deadline
      auto one = twin.begin();
      std::advance(one, static_cast<ptrdiff_t>(random.below(twin.size())));
      twin.erase(one);
      deadlines.ended(stands);
    }
    while (const auto due = deadlines.take_due(now, stands)) {
      ASSERT_FALSE(twin.empty());
      EXPECT_EQ(*due, twin.begin()->second);
      ASSERT_LE(twin.begin()->first, now);
      twin.erase(twin.begin());
    }
    ASSERT_TRUE(twin.empty() || twin.begin()->first > now);
    ASSERT_LE(deadlines.next(), twin.empty() ? LaggingTime::max() : twin.begin()->first);
    ASSERT_LE(deadlines.size(), 3 * twin.size() + 200) << "what has ended is not kept forever";
  }
}

TEST(DeadlinesTest, EndedDeadlinesBehindOneThatHasNotEndedAreRemoved) {
  Deadlines<uint64_t> deadlines;
  deadlines.add(at(1), 0);
  const auto stands = [](LaggingTime, uint64_t id) { return id == 0; };
  for (uint64_t id = 1; id < 100'000; ++id) {
    deadlines.add(at(1000 + id), id);
    deadlines.ended(stands);
    ASSERT_LE(deadlines.size(), 300u);
  }
  EXPECT_EQ(deadlines.next(), at(1));
}

TEST(DeadlinesTest, MaxIsNoDeadline) {
  Deadlines<uint64_t> deadlines;
  deadlines.add(LaggingTime::max(), 1);
  EXPECT_EQ(deadlines.size(), 0u);
  EXPECT_EQ(deadlines.next(), LaggingTime::max());
}

}  // namespace
}  // namespace coordkit
