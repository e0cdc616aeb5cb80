#include "tests/proof/growth/growth.h"

namespace coordkit::growth {
namespace {

TEST(GrowthTest, AMillionLocksCostAtMostLogTimesTheStepsOfTen) { locks_grow_no_faster(1'000'000); }
TEST(GrowthTest, AMillionLocksThatAreGoneCostNothing) { locks_that_are_gone_cost_nothing(1'000'000); }
TEST(GrowthTest, AMillionWaitersForOneLockCostAtMostLogTimesTheStepsOfTen) { lines_grow_no_faster(1'000'000); }
TEST(GrowthTest, AMillionSessionsCostAtMostLogTimesTheStepsOfTen) { sessions_grow_no_faster(1'000'000); }
TEST(GrowthTest, AMillionKeysCostAtMostLogTimesTheStepsOfTen) { keys_grow_no_faster(1'000'000); }
TEST(GrowthTest, TenMillionLocksCostAtMostLogTimesTheStepsOfTen) { locks_grow_no_faster(10'000'000); }
TEST(GrowthTest, TenMillionLocksThatAreGoneCostNothing) { locks_that_are_gone_cost_nothing(10'000'000); }
TEST(GrowthTest, TenMillionWaitersForOneLockCostAtMostLogTimesTheStepsOfTen) { lines_grow_no_faster(10'000'000); }
TEST(GrowthTest, TenMillionSessionsCostAtMostLogTimesTheStepsOfTen) { sessions_grow_no_faster(10'000'000); }
TEST(GrowthTest, TenMillionKeysCostAtMostLogTimesTheStepsOfTen) { keys_grow_no_faster(10'000'000); }

}  // namespace
}  // namespace coordkit::growth
