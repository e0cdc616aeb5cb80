// The loop of an engine's turns on executors that behave as badly as allowed: slow, parallel, late.
#include "service/loop/turn_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "coordkit/error.h"

namespace coordkit {
namespace {

using namespace std::chrono_literals;

// Runs nothing until told to.
class ByHand final : public Executor {
 public:
  void post(Task task) override {
    const std::lock_guard lock(mutex);
    posted.push_back(std::move(task));
  }
  void post_after(Duration delay, Task task) override { delayed.emplace_back(delay, std::move(task)); }
  bool runs_in_this_thread() const override { return here; }
  bool run_one() {
    std::unique_lock lock(mutex);
    if (posted.empty()) return false;
    Task task = std::move(posted.front());
    posted.pop_front();
    lock.unlock();
    std::move(task)();
    return true;
  }

  std::mutex mutex;
  std::deque<Task> posted;
  std::deque<std::pair<Duration, Task>> delayed;
  bool here = false;
};

// One that finds no memory for the next tasks.
class Starved final : public Executor {
 public:
  void post(Task task) override {
    starve();
    hand.post(std::move(task));
  }
  void post_after(Duration delay, Task task) override {
    starve();
    hand.post_after(delay, std::move(task));
  }
  void run_delayed() {
    Task task = std::move(hand.delayed.front().second);
    hand.delayed.pop_front();
    std::move(task)();
  }

  ByHand hand;
  int refused = 0;

 private:
  void starve() {
    if (refused > 0 && refused-- > 0) throw std::bad_alloc();
  }
};

// As pools that were stopped before their users: every task is thrown at. Some were kept all the same.
class Stopped final : public Executor {
 public:
  void post(Task task) override {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(task));
    throw std::runtime_error("enqueue on stopped ThreadPool");
  }
  void post_after(Duration, Task) override { throw 5; }

  std::mutex mutex;
  std::deque<Task> kept;
};

// A thread for each task, as it comes. Delayed tasks never run: only a wake causes a round.
class Scattered final : public Executor {
 public:
  ~Scattered() override { join(); }
  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([task = std::move(task)]() mutable { std::move(task)(); });
  }
  void post_after(Duration, Task) override {}
  void join() {
    for (;;) {
      std::vector<std::thread> threads;
      {
        const std::lock_guard lock(mutex_);
        threads.swap(threads_);
      }
      if (threads.empty()) return;
      for (std::thread& thread : threads) thread.join();
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

class TurnLoopTest : public ::testing::Test {
 protected:
  std::shared_ptr<ByHand> executor_ = std::make_shared<ByHand>();
  int rounds_ = 0;
  Duration wait_ = 1h;
  TurnLoop loop_{executor_, [this] {
                   ++rounds_;
                   return wait_;
                 }};
};

TEST_F(TurnLoopTest, NothingRunsBeforeItBegins) {
  loop_.wake();
  EXPECT_TRUE(executor_->posted.empty());
  loop_.begin();
  executor_->run_one();
  EXPECT_EQ(rounds_, 1);
  EXPECT_TRUE(executor_->posted.empty()) << "the wake before was part of the first round";
}

TEST_F(TurnLoopTest, ManyWakesAreOneTask) {
  loop_.begin();
  executor_->run_one();
  for (int i = 0; i < 100; ++i) loop_.wake();
  EXPECT_EQ(executor_->posted.size(), 1u);
  executor_->run_one();
  EXPECT_EQ(rounds_, 2);
}

TEST_F(TurnLoopTest, AWakeInsideOfARoundMeansAnotherOne) {
  TurnLoop* self = nullptr;
  int rounds = 0;
  TurnLoop loop(executor_, [&] {
    if (++rounds == 1) self->wake();
    return Duration(1h);
  });
  self = &loop;
  loop.begin();
  executor_->run_one();
  ASSERT_EQ(executor_->posted.size(), 1u);
  executor_->run_one();
  EXPECT_EQ(rounds, 2);
  EXPECT_TRUE(executor_->posted.empty());
}

TEST_F(TurnLoopTest, ARoundThatWantsAnotherAtOnceGivesTheExecutorItsShareBefore) {
  wait_ = {};
  loop_.begin();
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(executor_->posted.size(), 1u);
    executor_->run_one();
  }
  EXPECT_EQ(rounds_, 5);
  EXPECT_TRUE(executor_->delayed.empty());
}

TEST_F(TurnLoopTest, ADelayedTaskIsMadeOnlyWhenItIsWantedEarlier) {
  wait_ = 100ms;
  loop_.begin();
  executor_->run_one();
  for (int i = 0; i < 50; ++i) {
    loop_.wake();
    executor_->run_one();
  }
  EXPECT_EQ(executor_->delayed.size(), 1u) << "the first comes before all that were wanted later";
  wait_ = 1ms;
  loop_.wake();
  executor_->run_one();
  ASSERT_EQ(executor_->delayed.size(), 2u);
  EXPECT_EQ(executor_->delayed.back().first, 1ms);
}

TEST_F(TurnLoopTest, AnObsoleteTimerWakesTheLoopOnceAndIsNotRepeated) {
  wait_ = 100ms;
  loop_.begin();
  executor_->run_one();
  wait_ = 1ms;
  loop_.wake();
  executor_->run_one();
  ASSERT_EQ(executor_->delayed.size(), 2u);
  wait_ = 50ms;
  std::move(executor_->delayed[1].second)();
  executor_->run_one();
  EXPECT_EQ(executor_->delayed.size(), 3u) << "the one that fired was the latest: another is made";
  std::move(executor_->delayed[0].second)();
  executor_->run_one();
  EXPECT_EQ(executor_->delayed.size(), 3u) << "that of 50 ms is still to come";
}

TEST_F(TurnLoopTest, ALongWaitIsCutShort) {
  wait_ = 1000h;
  loop_.begin();
  executor_->run_one();
  ASSERT_EQ(executor_->delayed.size(), 1u);
  EXPECT_LE(executor_->delayed[0].first, 1s);
}

TEST_F(TurnLoopTest, TheEndIsWaitedForAndNothingRunsAfterIt) {
  loop_.begin();
  executor_->run_one();
  loop_.wake();
  std::atomic<bool> over{false};
  bool in_a_round = false;
  std::thread ender([&] {
    loop_.end([&] { in_a_round = loop_.runs_here(); });
    over = true;
  });
  while (!over) {
    if (!executor_->run_one()) std::this_thread::yield();
  }
  ender.join();
  EXPECT_TRUE(in_a_round);
  loop_.wake();
  for (auto& [delay, task] : executor_->delayed) std::move(task)();
  EXPECT_TRUE(executor_->posted.empty());
  EXPECT_FALSE(loop_.runs_here());
}

// Covers: FLT_A17
TEST_F(TurnLoopTest, AnExecutorThatRunsNothingIsNotWaitedForAtTheEnd) {
  loop_.begin();
  bool in_a_round = false;
  loop_.end([&] { in_a_round = loop_.runs_here(); }, 1ms);
  EXPECT_TRUE(in_a_round);
  EXPECT_TRUE(executor_->run_one()) << "it was kept";
  EXPECT_EQ(rounds_, 0);
}

// Covers: FLT_A17
TEST_F(TurnLoopTest, TheEndRunsHereWhereTheExecutorWaitsForThisThread) {
  executor_->here = true;
  loop_.begin();
  executor_->run_one();
  EXPECT_TRUE(loop_.waits_for_caller());
  bool in_a_round = false;
  loop_.end([&] { in_a_round = loop_.runs_here() && !loop_.waits_for_caller(); });
  EXPECT_TRUE(in_a_round);
  EXPECT_FALSE(loop_.waits_for_caller()) << "all is over";
  EXPECT_FALSE(executor_->run_one());
}

// Stands still, but where a test moves it.
class SetClock final : public Clock {
 public:
  Now now() const noexcept override { return {LaggingTime(at.load()), LeadingTime(at.load())}; }
  std::atomic<Duration> at{Duration(1h)};
};

TEST(TurnLoopTimeTest, ARoundIsOwedFromTheWakeToItsEnd) {
  SetClock clock;
  const auto executor = std::make_shared<ByHand>();
  Duration inside{};
  TurnLoop* self = nullptr;
  TurnLoop loop(
      executor,
      [&] {
        clock.at = clock.at.load() + 2s;
        inside = self->owed();
        return Duration(1h);
      },
      {}, clock);
  self = &loop;
  EXPECT_EQ(loop.owed(), 0s);
  loop.begin();
  clock.at = clock.at.load() + 3s;
  EXPECT_EQ(loop.owed(), 3s);
  executor->run_one();
  EXPECT_EQ(inside, 2s);
  clock.at = clock.at.load() + 5s;
  EXPECT_EQ(loop.owed(), 0s) << "no round is due";
  loop.wake();
  EXPECT_EQ(loop.owed(), 0s);
  clock.at = clock.at.load() + 4s;
  EXPECT_EQ(loop.owed(), 4s);
}

// Covers: FLT_A13
TEST(TurnLoopOnAStoppedExecutor, EveryRoundRunsSomewhereElseOnceAndTheEndComes) {
  const auto executor = std::make_shared<Stopped>();
  std::atomic<int> rounds{0}, told{0};
  std::atomic<bool> running{false};
  std::promise<void> enough;
  absl::Status why;
  TurnLoop loop(
      executor,
      [&]() -> Duration {
        EXPECT_FALSE(running.exchange(true));
        if (++rounds == 5) enough.set_value();
        running = false;
        return rounds < 5 ? Duration(1) : 1h;
      },
      [&](const absl::Status& status) { ++told, why = status; });
  loop.begin();
  enough.get_future().wait();
  bool last = false;
  loop.end([&] { last = true; });
  EXPECT_TRUE(last);
  EXPECT_EQ(told, 1) << "said once";
  EXPECT_EQ(reason_of(why), Reason::HostThrew) << why;
  const int before = rounds;
  const std::lock_guard lock(executor->mutex);
  for (Executor::Task& task : executor->kept) std::move(task)();
  EXPECT_EQ(rounds, before) << "what it kept does nothing";
}

TEST(TurnLoopOnManyThreads, RoundsDoNotOverlapAndNoWakeIsLost) {
  const auto executor = std::make_shared<Scattered>();
  std::atomic<int> inside{0};
  std::atomic<int> asked{0};
  std::atomic<int> served{0};
  std::atomic<bool> overlapped{false};
  TurnLoop loop(executor, [&] {
    if (inside.fetch_add(1) != 0) overlapped = true;
    served = asked.load();
    inside.fetch_sub(1);
    return Duration(1h);
  });
  loop.begin();
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        const int mine = asked.fetch_add(1) + 1;
        loop.wake();
        while (served.load() < mine) std::this_thread::yield();  // a lost wake would hang here
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  bool last = false;
  loop.end([&] { last = inside.load() == 0; });
  executor->join();
  EXPECT_TRUE(last);
  EXPECT_FALSE(overlapped);
}

class StarvedLoopTest : public ::testing::Test {
 protected:
  const std::shared_ptr<Starved> executor_ = std::make_shared<Starved>();
  int rounds_ = 0;
  TurnLoop loop_{executor_, [this] { return ++rounds_, Duration(1h); }, {}, system_clock(), TurnLoop::Elsewhere::Never};
};

// Covers: FLT_A18
TEST_F(StarvedLoopTest, ABeginningWithoutMemoryIsTriedAgain) {
  executor_->refused = 3;
  loop_.begin();
  EXPECT_EQ(executor_->refused, 0);
  EXPECT_TRUE(executor_->hand.run_one());
  EXPECT_EQ(rounds_, 1);
}

// Covers: FLT_A18
TEST_F(StarvedLoopTest, ABeginningWithoutMemoryForASecondIsRefusedForGood) {
  executor_->refused = std::numeric_limits<int>::max();
  EXPECT_THROW(loop_.begin(), std::bad_alloc);
  EXPECT_FALSE(loop_.begun());
  executor_->refused = 0;
  loop_.wake();  // as by a call that came too late
  EXPECT_FALSE(executor_->hand.run_one());
  EXPECT_EQ(rounds_, 0);
}

// Covers: FLT_A18
TEST_F(StarvedLoopTest, AWakeWithoutMemoryIsMadeUpForByTheDelayedTask) {
  loop_.begin();
  ASSERT_TRUE(executor_->hand.run_one());
  ASSERT_EQ(executor_->hand.delayed.size(), 1u);
  executor_->refused = 1;
  loop_.wake();
  EXPECT_FALSE(executor_->hand.run_one());
  executor_->run_delayed();
  EXPECT_TRUE(executor_->hand.run_one());
  EXPECT_EQ(rounds_, 2);
}

// Covers: FLT_A18
TEST_F(StarvedLoopTest, ADelayedTaskThatCannotPostARoundRunsIt) {
  loop_.begin();
  ASSERT_TRUE(executor_->hand.run_one());
  executor_->refused = 1;
  executor_->run_delayed();
  EXPECT_EQ(rounds_, 2);
  EXPECT_EQ(executor_->hand.delayed.size(), 1u);  // the next one
}

// Covers: FLT_A18
TEST_F(StarvedLoopTest, ARoundThatCannotArmItsDelayedTaskIsRunAgain) {
  loop_.begin();
  executor_->refused = 2;  // the delayed task, and the post in its place
  ASSERT_TRUE(executor_->hand.run_one());
  EXPECT_EQ(rounds_, 2);
  EXPECT_EQ(executor_->hand.delayed.size(), 1u);
}

}  // namespace
}  // namespace coordkit
