#include "replica/call_door.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace coordkit {
namespace {

using namespace std::chrono_literals;

constexpr size_t kInside = 20'000;  // from the beginning

struct CallDoorTest : ::testing::Test, Clock {
  CallDoorTest() {
    for (size_t call = 0; call < kInside; ++call) EXPECT_TRUE(door.enter(LaggingTime::max(), *this));
  }
  Now now() const noexcept override { return time; }

  bool enter(Duration in) { return door.enter(time.lagging + in, *this); }
  // Turns every 10 ms for this long, with this many unanswered at each, and this many answered in each 10 ms.
  void run(Duration for_so_long, size_t unanswered, size_t answered) {
    for (Duration passed{}; passed < for_so_long; passed += 10ms) {
      for (size_t call = 0; call < answered; ++call) door.left(true);
      time.lagging += 10ms;
      door.turned(time.lagging, unanswered);
    }
  }

  CallDoor door;
  Now time{LaggingTime(1h), LeadingTime(1h)};
};

TEST_F(CallDoorTest, AsManyAsThereAreThreadsTryNoMoreThanThereArePlacesAreInside) {
  std::atomic<size_t> entered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (size_t call = 0; call < CallDoor::kInsideMax / 3; ++call) entered += door.enter(LaggingTime::max(), *this) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entered, CallDoor::kInsideMax - kInside);
  EXPECT_EQ(door.inside(), CallDoor::kInsideMax);
  EXPECT_FALSE(door.enter(LaggingTime::max(), *this));
  door.left(true);
  EXPECT_TRUE(door.enter(LaggingTime::max(), *this));
}

TEST_F(CallDoorTest, WhoCannotBeAnsweredInTimeIsRefusedAndWhoCanIsNot) {
  run(1s, 2'000, 100);  // 100 us a call, so 200 ms for those ahead
  EXPECT_EQ(door.per_call(), 100us);
  EXPECT_FALSE(enter(399ms));
  EXPECT_TRUE(enter(400ms));
  for (int call = 0; call < 1'000; ++call) door.lined_up();
  EXPECT_FALSE(enter(599ms)) << "who is in line counts as well";
  EXPECT_TRUE(enter(600ms));
  door.begun(1'000);
  EXPECT_TRUE(enter(400ms));
}

TEST_F(CallDoorTest, WhatWaitsIsBoundedByTimeHoweverMuchACallHas) {
  EXPECT_TRUE(door.enter(LaggingTime::max(), *this));
  run(1s, 5'000, 100);
  EXPECT_TRUE(door.enter(LaggingTime::max(), *this)) << "half a second";
  EXPECT_TRUE(enter(1h));
  door.lined_up();
  EXPECT_FALSE(door.enter(LaggingTime::max(), *this));
  EXPECT_FALSE(enter(1h));
}

TEST_F(CallDoorTest, AFewAheadAreNoReasonToRefuse) {
  run(1s, CallDoor::kNeverLong, 1);
  EXPECT_EQ(door.per_call(), 10ms);
  EXPECT_FALSE(enter(1s));
  door.turned(time.lagging, CallDoor::kNeverLong - 1);
  EXPECT_TRUE(enter(1ms));
}

TEST_F(CallDoorTest, ATimeWithoutALeaderSaysNothingOfThePaceAfterIt) {
  run(1s, 2'000, 100);
  run(5s, 2'000, 0);
  EXPECT_EQ(door.per_call(), 100us);
  run(50ms, 2'000, 0);
  run(50ms, 2'000, 100);  // the first ones after it
  EXPECT_EQ(door.per_call(), 100us);
  EXPECT_TRUE(enter(400ms));
}

TEST_F(CallDoorTest, ThePaceIsThatOfLateAndOfTimesWhenCallsWaited) {
  run(1s, 2'000, 100);
  run(10s, 100, 1);
  EXPECT_EQ(door.per_call(), 100us) << "no call waited: so few answers were all that was requested";
  run(2s, 2'000, 10);
  EXPECT_EQ(door.per_call(), 1ms);
}

TEST_F(CallDoorTest, CallsThatWereGivenUpAreNoPace) {
  run(1s, 10'000, 0);
  for (int call = 0; call < 1000; ++call) {
    ASSERT_TRUE(enter(1s));
    door.left(false);
  }
  run(1s, 10'000, 0);
  EXPECT_EQ(door.per_call(), Duration::zero());
}

}  // namespace
}  // namespace coordkit
