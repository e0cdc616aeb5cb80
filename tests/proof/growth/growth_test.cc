#include "tests/proof/growth/growth.h"

namespace coordkit::growth {
namespace {

TEST(GrowthTest, AHundredThousandLocksCostAtMostLogTimesTheStepsOfTen) { locks_grow_no_faster(100'000); }
TEST(GrowthTest, AHundredThousandLocksThatAreGoneCostNothing) { locks_that_are_gone_cost_nothing(100'000); }
TEST(GrowthTest, AHundredThousandWaitersForOneLockCostAtMostLogTimesTheStepsOfTen) { lines_grow_no_faster(100'000); }
TEST(GrowthTest, AHundredThousandWaitersThatHoldLocksCostAtMostLogTimesTheStepsOfTen) {
  lines_of_holders_grow_no_faster(100'000);
}
TEST(GrowthTest, AHundredThousandSessionsCostAtMostLogTimesTheStepsOfTen) { sessions_grow_no_faster(100'000); }
TEST(GrowthTest, AHundredThousandKeysCostAtMostLogTimesTheStepsOfTen) { keys_grow_no_faster(100'000); }

}  // namespace
}  // namespace coordkit::growth
