// Other threads wait for this: a change of the published health, and their turn to close.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "service/operate/published_health.h"
#include "service/shell/closing.h"

namespace coordkit {
namespace {

using namespace std::chrono_literals;

class RunsNothing final : public Executor {
 public:
  void post(Task) override {}
  void post_after(Duration, Task) override {}
};

class HostWaitTest : public ::testing::Test {
 protected:
  void publish(ReplicaState state, std::string reason = {}) {
    health_.publish({.state = state, .reason = std::move(reason)}, {});
  }

  TurnLoop loop_{std::make_shared<RunsNothing>(), [] { return Duration::zero(); }};
  HoldUps hold_ups_{loop_, system_clock(), 300ms};
  PublishedHealth health_{loop_, system_clock(), 300ms};
  Closing closing_{loop_};
};

bool is_ready(const Health& health) { return health.state == ReplicaState::Ready; }

TEST_F(HostWaitTest, AWaitEndsWithTheHealthThatWasWaitedFor) {
  auto waits = std::async(std::launch::async, [&] { return health_.wait(1h, is_ready); });
  while (!health_.watched()) std::this_thread::yield();
  publish(ReplicaState::CatchingUp);
  publish(ReplicaState::Ready, "caught up");
  const std::optional<Health> found = waits.get();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "caught up");
  EXPECT_FALSE(health_.watched());
}

TEST_F(HostWaitTest, AWaitWithoutSuccessReturnsWhatIsPublished) {
  publish(ReplicaState::CatchingUp);
  const std::optional<Health> found = health_.wait(0s, is_ready);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, ReplicaState::CatchingUp);
}

TEST_F(HostWaitTest, ALookIsAtWhatIsPublishedFromThenOn) {
  publish(ReplicaState::Ready);
  auto looks = std::async(std::launch::async, [&] { return health_.look(1h, hold_ups_); });
  while (!health_.watched()) std::this_thread::yield();
  publish(ReplicaState::Ready);
  EXPECT_TRUE(looks.get());
  EXPECT_FALSE(health_.watched());
  health_.end();
  EXPECT_TRUE(health_.look(1h, hold_ups_)) << "nothing more will come";
}

TEST_F(HostWaitTest, ALookEndsWhenTheLoopIsHeldUp) {
  publish(ReplicaState::Ready);
  loop_.begin();  // its executor never runs the round
  EXPECT_FALSE(health_.look(0s, hold_ups_));
  EXPECT_EQ(health_.read().state, ReplicaState::Ready);
}

TEST_F(HostWaitTest, WhatIsPublishedIsWantedAgainOnceItIsOld) {
  publish(ReplicaState::Ready);
  const LaggingTime now = system_clock().lagging();
  EXPECT_FALSE(health_.wanted(now));
  EXPECT_TRUE(health_.wanted(now + 300ms));
  health_.ask();
  EXPECT_TRUE(health_.wanted(now));
}

TEST_F(HostWaitTest, NobodyWaitsForAClosedReplica) {
  auto waits = std::async(std::launch::async, [&] { return health_.wait(1h, is_ready); });
  while (!health_.watched()) std::this_thread::yield();
  health_.end();
  EXPECT_FALSE(waits.get());
  publish(ReplicaState::Ready);
  EXPECT_FALSE(health_.wait(1h, is_ready));
}

TEST_F(HostWaitTest, OnlyTheFirstToAskCloses) {
  EXPECT_TRUE(closing_.begin(1h)) << "without turns there is nothing to wait for";
  EXPECT_FALSE(closing_.begin(1h));
}

TEST_F(HostWaitTest, OfThoseThatWaitForTheDrainOneCloses) {
  loop_.begin();
  const auto begin = [&] { return closing_.begin(1h); };
  auto first = std::async(std::launch::async, begin);
  auto second = std::async(std::launch::async, begin);
  while (!closing_.drains()) std::this_thread::yield();
  closing_.drained();
  EXPECT_NE(first.get(), second.get());
}

TEST_F(HostWaitTest, ADrainWithoutEndIsWaitedFor) {
  loop_.begin();
  for (int i = 0; i < 100; ++i) {
    Closing closing(loop_);
    std::atomic<bool> over{false};
    auto first = std::async(std::launch::async, [&] { return closing.begin(Duration::max()) && over; });
    while (!closing.drains()) std::this_thread::yield();
    over = true;
    closing.drained();
    ASSERT_TRUE(first.get());
  }
}

}  // namespace
}  // namespace coordkit
