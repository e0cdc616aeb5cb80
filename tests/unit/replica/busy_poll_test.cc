#include "service/loop/busy_poll.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

namespace coordkit {
namespace {

using namespace std::chrono_literals;

class BusyPollTest : public ::testing::Test {
 protected:
  // Something that another thread does in a moment.
  template <typename Act>
  std::thread soon(Act act) {
    return std::thread([act] {
      std::this_thread::sleep_for(1ms);
      act();
    });
  }

  boost::asio::io_context io_{2};
  const decltype(boost::asio::make_work_guard(io_)) keep_running_ = boost::asio::make_work_guard(io_);
};

TEST_F(BusyPollTest, WhatComesWhileItLooksIsRunAndItNeverSleeps) {
  BusyPoll poll(io_, 10min);
  int ran = 0, rounds = 0;
  while (poll.looks().found == 0 && rounds < 1000) {
    std::thread other = soon([this, &ran] { boost::asio::post(io_, [&ran] { ++ran; }); });
    EXPECT_EQ(poll.run_one(), 1u);
    EXPECT_EQ(ran, ++rounds);
    other.join();
  }
  EXPECT_EQ(poll.looks().found, 1u);
  EXPECT_EQ(poll.looks().in_vain, 0u);
}

TEST_F(BusyPollTest, WaitingHandlersRunWithoutAPoll) {
  BusyPoll poll(io_, 10min);
  int ran = 0;
  for (int i = 0; i < 100; ++i) boost::asio::post(io_, [&ran] { ++ran; });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(poll.run_one(), 1u);
  EXPECT_EQ(ran, 100);
  EXPECT_EQ(poll.looks().found + poll.looks().in_vain, 0u);
}

// After four times rests of 1, 3, 7, ... 63 handlers; from the start again whenever something was found.
TEST_F(BusyPollTest, PollsInVainBecomeRarer) {
  BusyPoll poll(io_, 1ns);
  constexpr int kHandlers = 500;
  for (int i = 0; i < kHandlers; ++i) {
    boost::asio::steady_timer timer(io_, 500us);
    timer.async_wait([](const boost::system::error_code&) {});
    EXPECT_EQ(poll.run_one(), 1u);
  }
  EXPECT_GE(poll.looks().in_vain, 1u);
  EXPECT_LE(poll.looks().in_vain, 15 + 10 * poll.looks().found);
}

TEST_F(BusyPollTest, ItLooksAgainOnceARestIsOver) {
  BusyPoll poll(io_, 1ns);
  for (int i = 0; i < 1000 && poll.looks().in_vain + poll.looks().found < 8; ++i) {
    boost::asio::steady_timer timer(io_, 500us);
    timer.async_wait([](const boost::system::error_code&) {});
    poll.run_one();
  }
  EXPECT_EQ(poll.looks().in_vain + poll.looks().found, 8u);
}

TEST_F(BusyPollTest, ATimeOfZeroNeverPolls) {
  BusyPoll poll(io_, 0ns);
  for (int i = 0; i < 20; ++i) {
    std::thread other = soon([this] { boost::asio::post(io_, [] {}); });
    EXPECT_EQ(poll.run_one(), 1u);
    other.join();
  }
  EXPECT_EQ(poll.looks().found + poll.looks().in_vain, 0u);
}

TEST_F(BusyPollTest, ALoopThatIsStoppedMeanwhileIsNotLookedAtAnyLonger) {
  BusyPoll poll(io_, 10min);
  std::thread other = soon([this] { io_.stop(); });
  EXPECT_EQ(poll.run_one(), 0u);
  other.join();
  EXPECT_EQ(poll.run_one(), 0u);
}

}  // namespace
}  // namespace coordkit
