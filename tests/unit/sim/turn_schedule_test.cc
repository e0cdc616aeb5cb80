// When the process of a simulated node has its turns.
#include "sim/nodes/turn_schedule.h"

#include <gtest/gtest.h>

namespace coordkit::sim {
namespace {

class TurnScheduleTest : public ::testing::Test {
 protected:
  TurnScheduleTest() {
    schedule_.next_epoch();
    schedule_.reset();
  }
  // All that was scheduled; returns how many turns there were.
  int run() {
    int turns = 0;
    while (!world_.empty()) {
      const Event event = world_.pop();
      if (event.kind == EventKind::Timer) schedule_.timer_event(event);
      if (event.kind == EventKind::Turn && schedule_.turn_event(event)) ++turns;
    }
    return turns;
  }
  TrueTime in(int64_t milliseconds) const { return world_.now() + std::chrono::milliseconds(milliseconds); }

  World world_{1};
  Random random_{2};
  TurnSchedule schedule_{world_, 0, std::chrono::microseconds(50), random_};
};

TEST_F(TurnScheduleTest, ManyWakesLeadToOneTurn) {
  for (int i = 0; i < 10; ++i) schedule_.wake();
  EXPECT_EQ(run(), 1);
  schedule_.wake();
  EXPECT_EQ(run(), 1);
}

TEST_F(TurnScheduleTest, AFrozenProcessHasNoTurnUntilItResumes) {
  schedule_.wake();
  schedule_.turn_at_deadline(in(5));
  schedule_.freeze();
  schedule_.wake();
  EXPECT_EQ(run(), 0);
  schedule_.resume();
  EXPECT_EQ(run(), 1);
}

TEST_F(TurnScheduleTest, ALaterDeadlineTakesThePlaceOfAnEarlierOne) {
  schedule_.turn_at_deadline(in(5));
  schedule_.turn_at_deadline(in(9));
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(world_.now(), TrueTime(std::chrono::milliseconds(9)));
}

TEST_F(TurnScheduleTest, WhatWasScheduledForOneProcessDoesNotReachTheNext) {
  schedule_.wake();
  schedule_.turn_at_deadline(in(5));
  schedule_.next_epoch();
  schedule_.reset();
  EXPECT_EQ(run(), 0);
}

}  // namespace
}  // namespace coordkit::sim
