#include "replica/own_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace coordkit {
namespace {

using namespace std::chrono_literals;

// The thread on which a task of the loop runs now.
std::thread::id runner(OwnThread& loop) {
  std::promise<std::thread::id> found;
  loop.post([&found] { found.set_value(std::this_thread::get_id()); });
  return found.get_future().get();
}

TEST(OwnThreadTest, ABlockingTaskThatDoesNotBlockRunsOnTheThreadOfTheLoopInItsOrder) {
  OwnThread loop;
  loop.start();
  const std::thread::id before = runner(loop);
  std::vector<int> order;
  std::promise<std::thread::id> where;
  loop.post([&] {
    loop.post_blocking([&] {
      order.push_back(2);
      where.set_value(std::this_thread::get_id());
    });
    loop.post([&] { order.push_back(3); });
    order.push_back(1);
  });
  EXPECT_EQ(where.get_future().get(), before);
  EXPECT_EQ(runner(loop), before);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

// FLT_P11: a disk that stops answering in the middle of a sync blocks its own thread and nothing else.
TEST(OwnThreadTest, FLT_P11_WhileATaskBlocksTheOtherThreadGoesOnWithTheLoop) {
  OwnThread loop;
  loop.start();
  for (int round = 0; round < 3; ++round) {
    std::promise<void> let_go, blocked;
    std::promise<std::thread::id> held_up;
    loop.post([&] {
      loop.post_blocking([&] {
        held_up.set_value(std::this_thread::get_id());
        blocked.set_value();
        let_go.get_future().wait();
      });
    });
    blocked.get_future().wait();
    const std::thread::id meanwhile = runner(loop);  // returns although the task has not
    EXPECT_NE(meanwhile, held_up.get_future().get());
    std::promise<void> later;
    loop.post_after(1ms, [&] { later.set_value(); });
    later.get_future().wait();
    let_go.set_value();
    EXPECT_EQ(runner(loop), meanwhile) << "who was held up is the understudy from here on";
  }
}

TEST(OwnThreadTest, StopWaitsForATaskThatBlocksAndRunsNothingAfterwards) {
  OwnThread loop;
  loop.start();
  std::promise<void> blocked, let_go;
  bool ended = false, ran = false;
  loop.post([&] {
    loop.post_blocking([&] {
      blocked.set_value();
      let_go.get_future().wait();
      ended = true;
    });
  });
  blocked.get_future().wait();
  runner(loop);  // taken over
  std::thread stopper([&] { loop.stop(); });
  let_go.set_value();
  stopper.join();
  EXPECT_TRUE(ended);
  loop.post([&] { ran = true; });
  loop.stop();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace coordkit
