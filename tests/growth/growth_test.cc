#include "tests/growth/growth.h"

namespace coordkit::growth {
namespace {

TEST(GrowthTest, OfLocksUpToAHundredThousand) { locks_grow_no_faster(100'000); }
TEST(GrowthTest, OfLocksThatAreGoneUpToAHundredThousand) { locks_that_are_gone_cost_nothing(100'000); }
TEST(GrowthTest, OfALineForOneLockUpToAHundredThousand) { lines_grow_no_faster(100'000); }
TEST(GrowthTest, OfALineOfWhomeverHoldsAnotherLockUpToAHundredThousand) { lines_of_holders_grow_no_faster(100'000); }
TEST(GrowthTest, OfSessionsUpToAHundredThousand) { sessions_grow_no_faster(100'000); }
TEST(GrowthTest, OfKeysUpToAHundredThousand) { keys_grow_no_faster(100'000); }

}  // namespace
}  // namespace coordkit::growth
