// FLT_A18: every allocation of coordkit's threads fails once, told apart by its thread and its whole call stack, until two
// rounds of the work meet none that has not failed. Then each fails with the allocations of its thread that follow, as if
// memory came back only after a while. Each part of the stacks is a test of its own, because a run waits more than it works.
#include <gtest/gtest.h>

#include <iostream>
#include <tuple>

#include "tests/proof/allocation/failing_malloc.h"
#include "tests/proof/allocation/sweep.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kParts = 8;

// How many further allocations fail with each, and which part of the stacks.
class AllocationFullTest : public ::testing::TestWithParam<std::tuple<uint64_t, uint64_t>> {};

// Covers: FLT_A18
TEST_P(AllocationFullTest, EachFailsOnceAndEndsNoProcessHangsNothingAndLosesNothing) {
  if (!replaces_malloc()) GTEST_SKIP() << "this build has a malloc() of its own";
  const SweepResult result = sweep_allocations({.time_max = 2700s,
                                                .stack_depth = FailedAllocation::kFramesMax,
                                                .also = std::get<0>(GetParam()),
                                                .part = std::get<1>(GetParam()),
                                                .parts = kParts});
  std::cout << describe(result);
  EXPECT_TRUE(result.deaths.empty());
  EXPECT_TRUE(result.hangs.empty());
  EXPECT_TRUE(result.losses.empty());
  EXPECT_TRUE(result.wrong.empty());
}

INSTANTIATE_TEST_SUITE_P(AndSoManyMore, AllocationFullTest,
                         ::testing::Combine(::testing::Values(0, 30), ::testing::Range(uint64_t{0}, kParts)));

}  // namespace
}  // namespace coordkit::testkit
