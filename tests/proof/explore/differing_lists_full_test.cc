// As differing_lists_slow_test.cc, where a founder is wrong and processes crash: 45 million states, 4 GB, minutes.
#include <gtest/gtest.h>

#include "explore/initialization.h"

namespace coordkit::explore {
namespace {

// Covers: INV_R04 FLT_A19
TEST(DifferingListsFullTest, CrashesOfFoundersLeaveOneClusterThatMayHaveAnswered) {
  const InitializationFindings found = search_initializations(*initialization_scope_named("lists-founded-crash"));
  EXPECT_TRUE(found.complete) << found.violation << "\n" << found.trace;
  EXPECT_GT(found.born, 0u);
}

}  // namespace
}  // namespace coordkit::explore
