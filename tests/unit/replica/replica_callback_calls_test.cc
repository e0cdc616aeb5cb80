// Which calls begin where they are made.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "service/calls/callback_calls.h"

namespace coordkit {
namespace {

// Runs what it is given when it is told to.
class ManualExecutor final : public Executor {
 public:
  void post(Task task) override { task_ = std::move(task); }
  void post_after(Duration, Task) override {}
  void run() { std::exchange(task_, nullptr)(); }

 private:
  Task task_;
};

class CallbackCallsTest : public ::testing::Test {
 protected:
  // Runs it as a part of a round.
  void in_round(std::function<void()> work) {
    work_ = std::move(work);
    loop_.wake();
    executor_->run();
  }
  void SetUp() override {
    loop_.begin();
    executor_->run();
  }

  std::function<void()> work_ = [] {};
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>();
  TurnLoop loop_{executor_, [this] {
                   work_();
                   return Duration::max();
                 }};
  Arrivals arrivals_{loop_};
  CallbackCalls calls_{loop_, arrivals_.admission()};
};

TEST_F(CallbackCallsTest, ACallBeginsAtOnceOnlyInsideACallbackOnTheThreadOfItsRound) {
  EXPECT_FALSE(calls_.may_begin_here(Counts::No)) << "no round";
  in_round([&] {
    EXPECT_FALSE(calls_.may_begin_here(Counts::No)) << "no callback";
    calls_.inside([&] {
      EXPECT_TRUE(calls_.may_begin_here(Counts::No));
      EXPECT_TRUE(calls_.may_begin_here(Counts::Yes));
      std::thread([&] { EXPECT_FALSE(calls_.here()) << "another thread"; }).join();
      calls_.inside([] {});
      EXPECT_TRUE(calls_.here()) << "one inside of another";
    });
    EXPECT_FALSE(calls_.here());
  });
}

TEST_F(CallbackCallsTest, AnAdmittedOneOvertakesNoneInLineAndATurnHasItsShare) {
  in_round([&] {
    calls_.inside([&] {
      for (size_t i = 0; i < Arrivals::kCallsOfATurn; ++i) EXPECT_TRUE(calls_.may_begin_here(Counts::Yes));
      EXPECT_FALSE(calls_.may_begin_here(Counts::Yes));
      EXPECT_TRUE(calls_.may_begin_here(Counts::No));
      calls_.turn_begins();
      EXPECT_TRUE(calls_.may_begin_here(Counts::Yes));
      EXPECT_FALSE(arrivals_.add_in_line([](Client&) {}));
      EXPECT_FALSE(calls_.may_begin_here(Counts::Yes)) << "one stands in line";
      EXPECT_TRUE(calls_.may_begin_here(Counts::No));
    });
  });
}

}  // namespace
}  // namespace coordkit
