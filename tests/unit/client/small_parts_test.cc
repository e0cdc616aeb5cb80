// Two small tables of the client: maximum times of holds, and gaps between turns.
#include <gtest/gtest.h>

#include <memory>

#include "client/calls/turn_gaps.h"
#include "client/locks/hold_limits.h"

namespace coordkit::client {
namespace {

using namespace std::chrono_literals;

HoldRef until(LeadingTime end) {
  const auto session = make_ref<SessionState>(SessionId(1), 3s);
  return make_ref<HoldState>(session, "a", "", Token(5), Index(1), end);
}

// Covers: S-51
TEST(HoldLimitsTest, HoldsComeBackByTheEndOfTheirTimeAndThoseWithoutOneNever) {
  HoldLimits limits(/*watch=*/nullptr);
  const HoldRef late = until(LeadingTime(2s)), early = until(LeadingTime(1s)), same = until(LeadingTime(1s));
  for (const HoldRef& hold : {late, early, same, until(LeadingTime::max())}) limits.add(hold);
  EXPECT_EQ(limits.next(), LeadingTime(1s));
  EXPECT_EQ(limits.take_over(LeadingTime(1s - 1ns)), nullptr);
  limits.remove(early);
  limits.remove(early);
  EXPECT_EQ(limits.take_over(LeadingTime(1s)), same);
  EXPECT_EQ(limits.take_over(LeadingTime(1s)), nullptr);
  EXPECT_EQ(limits.take_over(LeadingTime::max()), late);
  EXPECT_EQ(limits.next(), LeadingTime::max());
}

// Covers: LT-9
TEST(TurnGapsTest, LateIsWhatWasPromisedAndAStepBackIsForEver) {
  TurnGaps gaps;
  const Now start{LaggingTime(10s), LeadingTime(20s)};
  EXPECT_EQ(gaps.late(start), 0ns) << "nothing was promised";
  gaps.promise(start.leading + 1s);
  EXPECT_EQ(gaps.late({start.lagging + 1s, start.leading + 1s}), 0ns);
  EXPECT_EQ(gaps.late({start.lagging + 3s, start.leading + 3s}), 2s);
  EXPECT_EQ(gaps.late({start.lagging + 3s, start.leading + 2s}), Duration::max());
  EXPECT_EQ(gaps.late({start.lagging + 2s, start.leading + 2s}), Duration::max()) << "either clock";
}

}  // namespace
}  // namespace coordkit::client
