// Which turns were missed: those that were due and came late, and those that a sleeping machine did not run.
#include "engine/loop/turn_clock.h"

#include <gtest/gtest.h>

namespace coordkit::engine {
namespace {

using std::chrono::milliseconds;

constexpr Duration kTimeout = milliseconds(300);

Now now_at(Duration lagging, Duration asleep = {}) { return {LaggingTime(lagging), LeadingTime(lagging + asleep)}; }

class TurnClockTest : public ::testing::Test {
 protected:
  void turn(Now now, Duration next) {
    clock_.began(now);
    clock_.ended(now);
    clock_.next_wanted(LaggingTime(next));
  }
  TurnClock clock_{kTimeout};
};

TEST_F(TurnClockTest, BeforeTheFirstTurnThereIsNoGap) { EXPECT_FALSE(clock_.gap(now_at(milliseconds(900))).any); }

// Covers: LT-6
TEST_F(TurnClockTest, ALateTurnIsAGapOfThatLength) {
  turn(now_at(milliseconds(1000)), milliseconds(1060));
  EXPECT_FALSE(clock_.gap(now_at(milliseconds(1210))).any) << "within half an election timeout";
  EXPECT_TRUE(clock_.gap(now_at(milliseconds(1211))).any);
  EXPECT_EQ(clock_.gap(now_at(milliseconds(1211))).late, milliseconds(151));
}

TEST_F(TurnClockTest, ATurnThatWasNotWantedIsNotLate) {
  turn(now_at(milliseconds(1000)), milliseconds(9000));
  EXPECT_FALSE(clock_.gap(now_at(milliseconds(8000))).any);
}

// Covers: LT-6
TEST_F(TurnClockTest, SleepIsAGapThatStoppedNoTimer) {
  turn(now_at(milliseconds(1000)), milliseconds(1060));
  const TurnClock::Gap gap = clock_.gap(now_at(milliseconds(1060), milliseconds(151)));
  EXPECT_TRUE(gap.any);
  EXPECT_EQ(gap.late, Duration::zero());
}

}  // namespace
}  // namespace coordkit::engine
