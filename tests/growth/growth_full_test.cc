#include "tests/growth/growth.h"

namespace coordkit::growth {
namespace {

TEST(GrowthTest, OfLocksUpToAMillion) { locks_grow_no_faster(1'000'000); }
TEST(GrowthTest, OfLocksThatAreGoneUpToAMillion) { locks_that_are_gone_cost_nothing(1'000'000); }
TEST(GrowthTest, OfALineForOneLockUpToAMillion) { lines_grow_no_faster(1'000'000); }
TEST(GrowthTest, OfSessionsUpToAMillion) { sessions_grow_no_faster(1'000'000); }
TEST(GrowthTest, OfKeysUpToAMillion) { keys_grow_no_faster(1'000'000); }
TEST(GrowthTest, OfLocksUpToTenMillion) { locks_grow_no_faster(10'000'000); }
TEST(GrowthTest, OfLocksThatAreGoneUpToTenMillion) { locks_that_are_gone_cost_nothing(10'000'000); }
TEST(GrowthTest, OfALineForOneLockUpToTenMillion) { lines_grow_no_faster(10'000'000); }
TEST(GrowthTest, OfSessionsUpToTenMillion) { sessions_grow_no_faster(10'000'000); }
TEST(GrowthTest, OfKeysUpToTenMillion) { keys_grow_no_faster(10'000'000); }

}  // namespace
}  // namespace coordkit::growth
