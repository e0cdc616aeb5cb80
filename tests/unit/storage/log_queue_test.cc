// Two threads that take turns with a log: which of them works, and what wakes the store's own.
#include "storage/log/log_queue.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace coordkit::testkit {
namespace {

using storage::LogQueue;
using namespace std::chrono_literals;

constexpr LogQueue::Rest kQuick{.quick = true};

// A queue whose own thread has nothing to do and waits for what comes next.
class LogQueueTest : public ::testing::Test {
 protected:
  LogQueueTest() {
    own_ = std::async(std::launch::async, [this] { return queue_.next(kQuick, owns_); });
    while (!deferred(1)) std::this_thread::yield();  // no, until that thread sleeps
  }
  ~LogQueueTest() override { queue_.close(); }

  bool deferred(uint64_t number) {
    LogWrite write{.number = WriteNumber(number)};
    return queue_.defer(write, [](const LogWrite&) { return true; });
  }
  LogQueue::Tasks lent() {
    LogQueue::Tasks tasks;
    EXPECT_TRUE(queue_.next_deferred(tasks));
    return tasks;
  }
  // The tasks of the own thread, which it hears of in the end.
  const LogQueue::Tasks& owns() {
    EXPECT_EQ(own_.wait_for(60s), std::future_status::ready) << "it sleeps";
    queue_.close();
    own_.wait();
    return owns_;
  }

  LogQueue queue_;
  LogQueue::Tasks owns_;  // once own_ is ready
  std::future<bool> own_;
};

TEST_F(LogQueueTest, ADeferredWriteIsForTheThreadThatComesForIt) {
  EXPECT_FALSE(deferred(2)) << "one at a time";
  EXPECT_EQ(lent().size(), 1u);
  EXPECT_FALSE(deferred(2)) << "the log is in use";
  LogQueue::Tasks more;
  EXPECT_FALSE(queue_.next_deferred(more));
  queue_.done(kQuick);
  EXPECT_TRUE(deferred(2));
  EXPECT_EQ(lent().size(), 1u);
  queue_.done({.quick = false});
  EXPECT_FALSE(deferred(3)) << "the disk is slow";
}

TEST_F(LogQueueTest, WhatIsPostedAfterADeferredWriteTakesItAlong) {
  queue_.post(LogQueue::Compact{});
  const LogQueue::Tasks& tasks = owns();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<LogWrite>(tasks[0])) << "in their order";
  EXPECT_TRUE(std::holds_alternative<LogQueue::Compact>(tasks[1]));
  LogQueue::Tasks left;
  EXPECT_FALSE(queue_.next_deferred(left)) << "it is the own thread's now";
}

TEST_F(LogQueueTest, WhatIsPostedWhileALentThreadWorksWaitsUntilItIsDone) {
  lent();
  queue_.post(LogQueue::Compact{});
  EXPECT_EQ(own_.wait_for(50ms), std::future_status::timeout) << "two threads would use the log";
  queue_.done(kQuick);
  const LogQueue::Tasks& tasks = owns();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LogQueue::Compact>(tasks[0]));
}

// The write of a lent thread found no room. Nothing more needs to be posted for it to be tried again.
TEST_F(LogQueueTest, AWriteThatFoundNoRoomIsTriedAgainByTheOwnThread) {
  lent();
  queue_.done({.due = LogQueue::Clock::now() + 10ms, .stalled = true});
  EXPECT_TRUE(owns().empty()) << "the writer has it";
  EXPECT_TRUE(own_.get());
}

TEST_F(LogQueueTest, AMarkThatBecomesDueIsTheOwnThreadsToo) {
  lent();
  queue_.done({.due = LogQueue::Clock::now() + 10ms, .quick = true});
  const LogQueue::Tasks& tasks = owns();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LogQueue::Mark>(tasks[0]));
}

TEST_F(LogQueueTest, AfterAFailureNothingIsAccepted) {
  lent();
  bool answered = false;
  queue_.post(LogQueue::Scrub{.from = Index(1), .done = [&](const LogScrub&) { answered = true; }});
  EXPECT_TRUE(queue_.fail());
  EXPECT_FALSE(queue_.fail()) << "once";
  queue_.drop_all();
  EXPECT_TRUE(answered) << "what waited is answered";
  queue_.done({});
  EXPECT_TRUE(owns().empty());
  EXPECT_FALSE(own_.get());
  answered = false;
  queue_.post(LogQueue::Scrub{.from = Index(1), .done = [&](const LogScrub&) { answered = true; }});
  EXPECT_TRUE(answered) << "who scrubs waits for an answer";
}

}  // namespace
}  // namespace coordkit::testkit
