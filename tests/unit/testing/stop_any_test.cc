// Several reasons to stop as one token.
#include "coordkit/stop_any.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "coordkit/coordkit.h"
#include "coordkit/testing/fake_session.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

TEST(StopAnyTest, StopsWithTheFirstOfThemAndTouchesNoOther) {
  std::stop_source first, second;
  const StopAny any = stop_any(first.get_token(), second.get_token());
  const StopAny nested = stop_any(any);
  EXPECT_FALSE(any.token().stop_requested());
  second.request_stop();
  EXPECT_TRUE(any.token().stop_requested());
  EXPECT_TRUE(nested.token().stop_requested());
  EXPECT_FALSE(first.stop_requested());
  EXPECT_TRUE(stop_any(first.get_token(), second.get_token()).token().stop_requested()) << "one was stopped already";
}

TEST(StopAnyTest, TokensThatNeverStopAreNoReason) {
  EXPECT_FALSE(stop_any(std::stop_token()).token().stop_requested());
  EXPECT_FALSE(stop_any().token().stop_requested());
}

TEST(StopAnyTest, WhatItGaveOutOutlivesItAndItMayBeMoved) {
  std::stop_source source;
  std::stop_token token, previous;
  {
    StopAny any = stop_any(source.get_token());
    token = any;
    const StopAny moved = std::move(any);
    EXPECT_EQ(moved.token(), token);
    previous = stop_any(source.get_token());
    source.request_stop();
  }
  EXPECT_TRUE(token.stop_requested());
  EXPECT_FALSE(previous.stop_requested()) << "it had stopped listening";
}

TEST(StopAnyTest, WakesWhoeverWaitsInAnyThread) {
  std::stop_source stop, never;
  const StopAny any = stop_any(never.get_token(), stop.get_token());
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread stopper([&] { stop.request_stop(); });
  std::unique_lock lock(mutex);
  EXPECT_FALSE(wake.wait(lock, any.token(), [] { return false; }));
}

// Covers: S-52
TEST(StopAnyTest, AGrantThatIsLostStopsTheWork) {
  FakeService service;
  Session session = service.open_session({.ttl = 2s});
  Grant grant = session.acquire("billing").value();
  std::stop_source program;
  const StopAny stop = stop_any(grant.lost(), program.get_token());
  service.at(3s, [&] { service.lose(session); });
  int rows = 0;
  while (!stop.token().stop_requested()) {
    service.advance(1s);
    ++rows;
  }
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(reason_of(service.open_session().acquire("other", {.stop = stop}).status()), Reason::Cancelled);
}

}  // namespace
}  // namespace coordkit::testkit
