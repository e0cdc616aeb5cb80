// The choice of the gateway that a remote dials next, and of the time.
#include "remote/gateway_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"

namespace coordkit::remote {
namespace {

using namespace std::chrono_literals;

constexpr Duration kJitter = 1s;
constexpr Duration kPatience = 2s;

LaggingTime at(Duration since) { return LaggingTime(since); }
GatewayChoice three(uint64_t random = 0) { return {{"a", "b", "c"}, kJitter, kPatience, random}; }

TEST(GatewayChoiceTest, TheFirstOneIsDrawnAtRandom) {
  std::set<std::string> first;
  for (uint64_t random = 0; random < 3; ++random) first.insert(three(random).address());
  EXPECT_EQ(first.size(), 3u);
}

TEST(GatewayChoiceTest, ALinkThatServesIsKept) {
  GatewayChoice choice = three();
  choice.waits(at(0s), 0);
  choice.served();
  EXPECT_EQ(choice.next(), LaggingTime::max());
  EXPECT_FALSE(choice.moves(at(24h), 7));
  EXPECT_EQ(choice.address(), "a");
}

TEST(GatewayChoiceTest, AGatewayWithoutALeaderIsLeftAfterSomePatience) {
  GatewayChoice choice = three();
  choice.waits(at(10s), 0);
  EXPECT_FALSE(choice.moves(at(10s + kPatience - 1ns), 0));
  EXPECT_TRUE(choice.moves(at(10s + kPatience), 0));
  EXPECT_EQ(choice.address(), "b");
}

TEST(GatewayChoiceTest, AFailureMovesEarlierAndNeverLater) {
  GatewayChoice choice = three();
  choice.waits(at(0s), 0);
  choice.failed(at(100ms), static_cast<uint64_t>(Duration(500ms).count()));
  EXPECT_EQ(choice.next(), at(600ms));
  choice.failed(at(500ms), static_cast<uint64_t>(Duration(900ms).count()));
  EXPECT_EQ(choice.next(), at(600ms));
}

TEST(GatewayChoiceTest, AllAreTriedInTurn) {
  GatewayChoice choice = three();
  std::map<std::string, int> tried;
  LaggingTime now = at(0s);
  choice.waits(now, 0);
  for (int moves = 0; moves < 9; ++moves) {
    now = choice.next();
    ASSERT_TRUE(choice.moves(now, 0));
    ++tried[choice.address()];
  }
  for (const char* address : {"a", "b", "c"}) EXPECT_EQ(tried[address], 3);
}

TEST(GatewayChoiceTest, TheWaitDoublesUpToABoundAndBeginsAgainOnceServed) {
  GatewayChoice choice = three();
  LaggingTime now = at(0s);
  const auto longest = [&] {
    Duration most{};
    Random random(1);
    for (int draws = 0; draws < 2000; ++draws) {
      GatewayChoice one = choice;
      one.waits(now, random());
      most = std::max(most, one.next() - now - kPatience);
    }
    return most;
  };
  Duration before = longest();
  EXPECT_LE(before, kJitter);
  EXPECT_GT(before, kJitter * 9 / 10);
  for (int moves = 0; moves < 12; ++moves) {
    now = std::max(now, choice.next() == LaggingTime::max() ? now : choice.next());
    choice.failed(now, 0);
    ASSERT_TRUE(choice.moves(choice.next(), 0));
    now = choice.next();
  }
  EXPECT_GT(longest(), 28 * kJitter);
  EXPECT_LE(longest(), 32 * kJitter);
  choice.served();
  EXPECT_LE(longest(), kJitter);
}

TEST(GatewayChoiceTest, RemotesOfOneGatewaySpreadOverTime) {
  std::set<Duration> when;
  Random random(7);
  for (int remotes = 0; remotes < 1000; ++remotes) {
    GatewayChoice choice = three(random());
    choice.failed(at(0s), random());
    when.insert(choice.next() - at(0s));
  }
  EXPECT_LE(*when.rbegin(), kJitter);
  EXPECT_GT(*when.rbegin(), kJitter * 9 / 10);
  EXPECT_LT(*when.begin(), kJitter / 10);
  EXPECT_GT(when.size(), 990u);
}

// With one order for all, the remotes of a gateway that died all came to the same one.
TEST(GatewayChoiceTest, RemotesHaveOrdersOfTheirOwn) {
  std::map<std::string, std::set<std::string>> after;
  for (uint64_t random = 0; random < 6; ++random) {
    GatewayChoice choice({"a", "b", "c"}, 100ms, 1s, random);
    const std::string first = choice.address();
    const LaggingTime now{};
    choice.failed(now, 0);
    ASSERT_TRUE(choice.moves(now + 1s, 0));
    after[first].insert(choice.address());
  }
  const std::map<std::string, std::set<std::string>> both{{"a", {"b", "c"}}, {"b", {"a", "c"}}, {"c", {"a", "b"}}};
  EXPECT_EQ(after, both);
}

}  // namespace
}  // namespace coordkit::remote
