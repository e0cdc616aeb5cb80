// What other threads wait for: a change of the published health, and their turn to close.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "replica/closing.h"
#include "replica/published_health.h"

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
  TurnLoop loop_{std::make_shared<RunsNothing>(), [] { return Duration::zero(); }};
  PublishedHealth health_{loop_};
  Closing closing_{loop_};
};

bool is_ready(const Health& health) { return health.state == ReplicaState::Ready; }

TEST_F(HostWaitTest, AWaitEndsWithTheHealthThatWasWaitedFor) {
  auto waits = std::async(std::launch::async, [&] { return health_.wait(1h, is_ready); });
  while (!health_.watched()) std::this_thread::yield();
  health_.publish({.state = ReplicaState::CatchingUp});
  health_.publish({.state = ReplicaState::Ready, .reason = "caught up"});
  const std::optional<Health> found = waits.get();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "caught up");
  EXPECT_FALSE(health_.watched());
}

TEST_F(HostWaitTest, AWaitWithoutSuccessReturnsWhatIsPublished) {
  health_.publish({.state = ReplicaState::CatchingUp});
  const std::optional<Health> found = health_.wait(0s, is_ready);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, ReplicaState::CatchingUp);
}

TEST_F(HostWaitTest, ALookIsAtWhatIsPublishedFromThenOn) {
  health_.publish({.state = ReplicaState::Ready});
  EXPECT_FALSE(health_.look(0s));
  auto looks = std::async(std::launch::async, [&] { return health_.look(1h); });
  while (!health_.watched()) std::this_thread::yield();
  health_.publish({.state = ReplicaState::Ready});
  EXPECT_TRUE(looks.get());
  EXPECT_FALSE(health_.watched());
  health_.end();
  EXPECT_TRUE(health_.look(1h)) << "nothing more will come";
}

TEST_F(HostWaitTest, NobodyWaitsForAClosedReplica) {
  auto waits = std::async(std::launch::async, [&] { return health_.wait(1h, is_ready); });
  while (!health_.watched()) std::this_thread::yield();
  health_.end();
  EXPECT_FALSE(waits.get());
  health_.publish({.state = ReplicaState::Ready});
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
