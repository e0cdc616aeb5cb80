// FLT_A18: every allocation of coordkit's threads fails once, told apart by its thread and its whole call stack, until two
// rounds of the work meet none that has not failed; then each with the allocations of its thread that follow, as if memory came
// back only after a while.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/allocation/failing_malloc.h"
#include "tests/allocation/sweep.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

class AllocationFullTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(AllocationFullTest, FLT_A18_EachFailsOnceAndEndsNoProcessHangsNothingAndLosesNothing) {
  if (!replaces_malloc()) GTEST_SKIP() << "this build has a malloc() of its own";
  const SweepResult result =
      sweep_allocations({.time_max = 2700s, .stack_depth = FailedAllocation::kFramesMax, .also = GetParam()});
  std::cout << describe(result);
  EXPECT_TRUE(result.deaths.empty());
  EXPECT_TRUE(result.hangs.empty());
  EXPECT_TRUE(result.losses.empty());
  EXPECT_TRUE(result.wrong.empty());
}

INSTANTIATE_TEST_SUITE_P(AndSoManyMore, AllocationFullTest, ::testing::Values(0, 30));

}  // namespace
}  // namespace coordkit::testkit
