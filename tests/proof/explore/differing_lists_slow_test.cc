// The initialization of clusters whose lists of members differ, where two replicas are corrected: millions of states.
#include <gtest/gtest.h>

#include "explore/initialization.h"

namespace coordkit::explore {
namespace {

class DifferingLists : public testing::TestWithParam<const char*> {};

// Covers: INV_R04 FLT_A19
TEST_P(DifferingLists, OnceListsAreCorrectedEverybodyBelongsToTheOneClusterThatMayHaveAnswered) {
  const InitializationFindings found = search_initializations(*initialization_scope_named(GetParam()));
  EXPECT_TRUE(found.complete) << found.violation << "\n" << found.trace;
  EXPECT_GT(found.born, 0u);
}

INSTANTIATE_TEST_SUITE_P(Slow, DifferingLists, testing::Values("lists-agreed", "lists-all"));

TEST(DifferingListsCheckTest, AVoteThatIsForgottenIsFound) {
  InitializationScope scope = *initialization_scope_named("lists-agreed");
  scope.defect = InitializationDefect::ForgetsVotes;
  EXPECT_TRUE(search_initializations(scope).violation.starts_with("INV_R04"));
}

}  // namespace
}  // namespace coordkit::explore
