// As explore_test.cc, with heartbeats that tell of commits and a crash: 7.5 million states. Letters of different worlds meet
// there, so it also shows that letters with equal fingerprints are equal.
#include <gtest/gtest.h>

#include "explore/search.h"

namespace coordkit::explore {
namespace {

// Covers: INV_R01 INV_R06 FLT_P27
TEST(CommitsSlowTest, CommitsAreToldAndACrashForgetsNone) {
  Space space(*scope_named("commits"));
  const Findings found = search(space, {});
  EXPECT_TRUE(found.complete) << found.violation;
  EXPECT_EQ(found.leaders_most, 2u);
}

}  // namespace
}  // namespace coordkit::explore
