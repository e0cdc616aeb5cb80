// FLT_A18: an allocation that fails on a thread of coordkit's own. Here as many as fit into half a minute;
// allocation_full_test.cc fails all that there are. COORDKIT_SWEEP_SECONDS, _FRAMES, _ALSO, _PART and _PARTS in the environment
// change the order (sweep.h).
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/proof/allocation/failing_malloc.h"
#include "tests/proof/allocation/sweep.h"

namespace coordkit::testkit {
namespace {

int number_in(const char* variable, int otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

// Covers: FLT_A18
TEST(AllocationTest, OneThatFailsEndsNoProcessHangsNothingAndLosesNothing) {
  if (!replaces_malloc()) GTEST_SKIP() << "this build has a malloc() of its own";
  const SweepResult result = sweep_allocations({.time_max = std::chrono::seconds(number_in("COORDKIT_SWEEP_SECONDS", 30)),
                                                .stack_depth = number_in("COORDKIT_SWEEP_FRAMES", 10),
                                                .also = static_cast<uint64_t>(number_in("COORDKIT_SWEEP_ALSO", 0)),
                                                .part = static_cast<uint64_t>(number_in("COORDKIT_SWEEP_PART", 0)),
                                                .parts = static_cast<uint64_t>(number_in("COORDKIT_SWEEP_PARTS", 1))});
  std::cout << describe(result);
  EXPECT_TRUE(result.deaths.empty());
  EXPECT_TRUE(result.hangs.empty());
  EXPECT_TRUE(result.losses.empty());
  EXPECT_TRUE(result.wrong.empty());
  EXPECT_GT(result.failed, 0u);
}

}  // namespace
}  // namespace coordkit::testkit
