// A fault comes up when it would have come up without the others.
#include "sim/faults/fault_schedule.h"

#include <gtest/gtest.h>

namespace coordkit::sim {
namespace {

using std::chrono::milliseconds;

// When each fault comes up, how long it lasts and what it draws first.
struct Came {
  FaultKind kind;
  TrueTime at;
  Duration length;
  uint64_t drawn;
  friend bool operator==(const Came&, const Came&) = default;
};

class FaultScheduleTest : public ::testing::Test {
 protected:
  FaultScheduleTest() {
    plan_.faults = {{FaultKind::Crash, milliseconds(50), milliseconds(1), milliseconds(20)},
                    {FaultKind::Storm, milliseconds(80), milliseconds(5), milliseconds(90)}};
  }

  // `draws` more random numbers by each fault that strikes.
  std::vector<Came> run(const Reduction& reduction, uint64_t draws) {
    World world(1);
    Random random(7);
    FaultSchedule schedule(world, plan_, reduction, random);
    schedule.begin();
    std::vector<Came> came;
    while (world.next_time() < TrueTime(std::chrono::seconds(2))) {
      const Event event = world.pop();
      FaultSchedule::Strike strike = schedule.come_up(event.item);
      came.push_back({strike.kind, event.at, strike.length, strike.random.below(1'000'000)});
      for (uint64_t i = 0; i < draws; ++i) strike.random();
      if (!strike.left_out) schedule.count(strike.kind);
      schedule.plan_next(event.item);
    }
    schedule.fill(report_);
    return came;
  }

  Plan plan_;
  Report report_;
};

TEST_F(FaultScheduleTest, WhatOneDrawsDoesNotMoveTheOthers) { EXPECT_EQ(run({}, 0), run({}, 100)); }

TEST_F(FaultScheduleTest, OnesLeftOutComeUpAndDoNotStrike) {
  const std::vector<Came> all = run({}, 0);
  EXPECT_EQ(report_.struck.size(), all.size());
  EXPECT_EQ(run({.without = {FaultKind::Crash}}, 0), all);
  EXPECT_EQ(report_.strikes, all.size());
  EXPECT_EQ(report_.faults[static_cast<size_t>(FaultKind::Crash)], 0);
  EXPECT_EQ(report_.faults[static_cast<size_t>(FaultKind::Storm)], report_.struck.size());
  EXPECT_GT(report_.struck.size(), 0);
}

}  // namespace
}  // namespace coordkit::sim
