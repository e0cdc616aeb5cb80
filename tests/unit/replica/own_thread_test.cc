#include "service/loop/own_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
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
  OwnThread loop(50us);
  loop.start();
  const std::thread::id before = runner(loop);
  std::vector<int> order;
  std::promise<std::thread::id> where;
  loop.post([&] {
    loop.block_after(
        [&] {
          order.push_back(2);
          loop.post([&] {
            order.push_back(5);
            where.set_value(std::this_thread::get_id());
          });
        },
        [&] { order.push_back(3); });
    loop.post([&] { order.push_back(4); });
    order.push_back(1);
  });
  EXPECT_EQ(where.get_future().get(), before);
  EXPECT_EQ(runner(loop), before);
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4, 5}));
}

// FLT_P11: a disk that stops answering in the middle of a sync blocks its own thread and nothing else.
// Covers: FLT_P11
TEST(OwnThreadTest, WhileATaskBlocksTheOtherThreadGoesOnWithTheLoop) {
  OwnThread loop(50us);
  loop.start();
  for (int round = 0; round < 3; ++round) {
    std::promise<void> let_go, blocked, posted_before;
    std::promise<std::thread::id> held_up;
    bool went_on = false;
    loop.post([&] {
      loop.post([&] { posted_before.set_value(); });
      loop.block_after(
          [&] {
            held_up.set_value(std::this_thread::get_id());
            blocked.set_value();
            let_go.get_future().wait();
          },
          [&] { went_on = true; });
    });
    blocked.get_future().wait();
    const std::thread::id meanwhile = runner(loop);  // returns although the task has not
    EXPECT_NE(meanwhile, held_up.get_future().get());
    posted_before.get_future().wait();  // by the task that ordered the other one
    std::promise<void> later;
    loop.post_after(1ms, [&] { later.set_value(); });
    later.get_future().wait();
    let_go.set_value();
    EXPECT_EQ(runner(loop), meanwhile) << "who was held up is the understudy from here on";
    EXPECT_FALSE(went_on) << "the loop is another thread's";
  }
}

// A thread that is held up comes back at the moment at which the understudy takes over, or a little before or after it.
TEST(OwnThreadTest, NeverDoBothThreadsRunTheLoop) {
  OwnThread loop(50us);
  loop.start();
  std::atomic<int> inside{0};
  bool alone = true;  // of the loop's tasks: no two of them at once
  std::promise<void> never;
  const std::future<void> waits = never.get_future();
  std::atomic<bool> looking{false};
  const std::function<void()> look = [&] {
    alone = inside.fetch_add(1) == 0 && alone;
    std::this_thread::sleep_for(20us);  // long enough for a second thread to come in
    inside.fetch_sub(1);
    if (looking) loop.post(look);
  };
  for (int round = 0; round < 40; ++round) {
    std::promise<void> over;
    loop.post([&] {
      loop.block_after(
          [&, held_up = 4ms + 200us * (round % 35)] {
            waits.wait_for(held_up);
            over.set_value();
          },
          [] {});
    });
    over.get_future().wait();
    std::promise<void> looked;
    looking = true;
    for (int i = 0; i < 3; ++i) loop.post(look);  // there is always another one for a second thread
    waits.wait_for(4ms);
    looking = false;
    loop.post([&] { looked.set_value(); });
    looked.get_future().wait();
  }
  loop.stop();
  EXPECT_TRUE(alone);
}

TEST(OwnThreadTest, StopWaitsForATaskThatBlocksAndRunsNothingAfterwards) {
  OwnThread loop(50us);
  loop.start();
  std::promise<void> blocked, let_go;
  bool ended = false, ran = false;
  loop.post([&] {
    loop.block_after(
        [&] {
          blocked.set_value();
          let_go.get_future().wait();
          ended = true;
        },
        [] {});
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
