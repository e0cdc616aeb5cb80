#include "coordkit/client/lazy_stop_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace coordkit {
namespace {

TEST(LazyStopSourceTest, TokensBeforeAndAfterTheStopAreStopped) {
  LazyStopSource source;
  EXPECT_FALSE(source.stop_requested());
  const std::stop_token early = source.get_token();
  EXPECT_TRUE(early.stop_possible());
  EXPECT_FALSE(early.stop_requested());
  int ran = 0;
  const std::stop_callback on_stop(early, [&] { ++ran; });
  source.request_stop();
  source.request_stop();
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(early.stop_requested());
  EXPECT_TRUE(source.get_token().stop_requested());
  EXPECT_TRUE(source.stop_requested());
}

TEST(LazyStopSourceTest, AStopThatNobodyListenedToIsRemembered) {
  LazyStopSource source;
  source.request_stop();
  EXPECT_TRUE(source.stop_requested());
  EXPECT_TRUE(source.get_token().stop_requested());
}

TEST(LazyStopSourceTest, ATokenMayOutliveItsSource) {
  std::stop_token token;
  {
    LazyStopSource source;
    token = source.get_token();
  }
  EXPECT_FALSE(token.stop_requested());
  EXPECT_FALSE(token.stop_possible());
}

TEST(LazyStopSourceTest, AllThreadsGetTokensOfOneSource) {
  for (int round = 0; round < 200; ++round) {
    LazyStopSource source;
    std::atomic<int> told{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        const std::stop_token token = source.get_token();
        while (!token.stop_requested()) std::this_thread::yield();
        ++told;
      });
    }
    threads.emplace_back([&] { source.request_stop(); });
    threads.clear();
    EXPECT_EQ(told, 3);
  }
}

}  // namespace
}  // namespace coordkit
