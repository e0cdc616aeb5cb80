#include "service/calls/call_admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace coordkit {
namespace {

using namespace std::chrono_literals;

constexpr size_t kInside = 50'000;  // from the beginning

struct CallAdmissionTest : ::testing::Test, Clock {
  CallAdmissionTest() {
    for (size_t call = 0; call < kInside; ++call) EXPECT_TRUE(admission.enter(LaggingTime::max(), *this));
  }
  Now now() const noexcept override { return time; }

  bool enter(Duration in) { return admission.enter(time.lagging + in, *this); }
  // Turns every 10 ms for this long, with this many unanswered at each, and this many answered in each 10 ms.
  void run(Duration for_so_long, size_t unanswered, size_t answered) {
    for (Duration passed{}; passed < for_so_long; passed += 10ms) {
      for (size_t call = 0; call < answered; ++call) admission.left(true);
      time.lagging += 10ms;
      admission.turned(time.lagging, unanswered);
    }
  }

  CallAdmission admission;
  Now time{LaggingTime(1h), LeadingTime(1h)};
};

TEST_F(CallAdmissionTest, AsManyAsThereAreThreadsTryNoMoreThanThereArePlacesAreInside) {
  std::atomic<size_t> entered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (size_t call = 0; call < CallAdmission::kInsideMax / 3; ++call)
        entered += admission.enter(LaggingTime::max(), *this) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entered, CallAdmission::kInsideMax - kInside);
  EXPECT_EQ(admission.inside(), CallAdmission::kInsideMax);
  EXPECT_FALSE(admission.enter(LaggingTime::max(), *this));
  admission.left(true);
  EXPECT_TRUE(admission.enter(LaggingTime::max(), *this));
}

TEST_F(CallAdmissionTest, WhoCannotBeAnsweredInTimeIsRefusedAndWhoCanIsNot) {
  run(1s, 2'000, 100);  // 100 us a call, so 200 ms for those ahead
  EXPECT_EQ(admission.per_call(), 100us);
  EXPECT_FALSE(enter(399ms));
  EXPECT_TRUE(enter(400ms));
  for (int call = 0; call < 1'000; ++call) admission.lined_up();
  EXPECT_FALSE(enter(599ms)) << "who is in line counts as well";
  EXPECT_TRUE(enter(600ms));
  admission.begun(1'000);
  EXPECT_TRUE(enter(400ms));
}

TEST_F(CallAdmissionTest, WhatWaitsIsBoundedByTimeHoweverMuchACallHas) {
  EXPECT_TRUE(admission.enter(LaggingTime::max(), *this));
  run(1s, 5'000, 100);
  EXPECT_TRUE(admission.enter(LaggingTime::max(), *this)) << "half a second";
  EXPECT_TRUE(enter(1h));
  admission.lined_up();
  EXPECT_FALSE(admission.enter(LaggingTime::max(), *this));
  EXPECT_FALSE(enter(1h));
}

TEST_F(CallAdmissionTest, WhileMoreIsRequestedThanCanBeDoneTheQueueIsShortAndABurstAloneChangesNothing) {
  const auto flooded = [this](size_t unanswered, Duration for_so_long) {
    for (Duration passed{}; passed < for_so_long; passed += 100ms) {
      enter(1h);
      run(100ms, unanswered, 100);
    }
  };
  run(1s, 6'000, 100);
  flooded(6'000, 400ms);
  EXPECT_FALSE(admission.overloaded()) << "a burst";
  run(200ms, 4'000, 100);
  EXPECT_TRUE(enter(1h));
  flooded(6'000, 400ms);
  EXPECT_FALSE(admission.overloaded()) << "another burst";
  flooded(6'000, 300ms);
  ASSERT_TRUE(admission.overloaded());
  EXPECT_FALSE(enter(1h));
  run(50ms, 1'100, 100);  // 110 ms for those ahead
  EXPECT_FALSE(enter(1h));
  run(50ms, CallAdmission::kNeverLong - 1, 100);
  EXPECT_TRUE(enter(1h));
  EXPECT_TRUE(admission.overloaded()) << "a call was refused a moment ago";
  run(200ms, 1'100, 100);
  EXPECT_FALSE(admission.overloaded());
  run(10ms, 4'000, 100);
  EXPECT_TRUE(enter(1h)) << "a burst may queue again";
}

TEST_F(CallAdmissionTest, CallsThatAreInAHurryDoNotShortenTheQueueOfOthers) {
  run(1s, 2'000, 100);
  for (int look = 0; look < 20; ++look) {
    EXPECT_FALSE(enter(100ms));
    run(100ms, 2'000, 100);
  }
  EXPECT_FALSE(admission.overloaded());
  EXPECT_TRUE(enter(1h));
}

TEST_F(CallAdmissionTest, AFewAheadAreNoReasonToRefuse) {
  run(1s, CallAdmission::kNeverLong, 1);
  EXPECT_EQ(admission.per_call(), 10ms);
  EXPECT_FALSE(enter(1s));
  admission.turned(time.lagging, CallAdmission::kNeverLong - 1);
  EXPECT_TRUE(enter(1ms));
}

TEST_F(CallAdmissionTest, ATimeWithoutALeaderSaysNothingOfThePaceAfterIt) {
  run(1s, 2'000, 100);
  run(5s, 2'000, 0);
  EXPECT_EQ(admission.per_call(), 100us);
  run(50ms, 2'000, 0);
  run(50ms, 2'000, 100);  // the first ones after it
  EXPECT_EQ(admission.per_call(), 100us);
  EXPECT_TRUE(enter(400ms));
}

TEST_F(CallAdmissionTest, ThePaceIsThatOfLateAndOfTimesWhenCallsWaited) {
  run(1s, 2'000, 100);
  run(10s, 100, 1);
  EXPECT_EQ(admission.per_call(), 100us) << "no call waited: so few answers were all that was requested";
  run(2s, 2'000, 10);
  EXPECT_EQ(admission.per_call(), 1ms);
}

TEST_F(CallAdmissionTest, CallsThatWereGivenUpAreNoPace) {
  run(1s, 10'000, 0);
  for (int call = 0; call < 1000; ++call) {
    ASSERT_TRUE(enter(1s));
    admission.left(false);
  }
  run(1s, 10'000, 0);
  EXPECT_EQ(admission.per_call(), Duration::zero());
}

}  // namespace
}  // namespace coordkit
