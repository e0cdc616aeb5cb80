#include "base/mutant.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

#ifdef COORDKIT_MUTANTS

TEST(MutantTest, OneIsOnAtATimeAndANameThatIsNoneChangesNothing) {
  const Mutant before = active_mutant;
  EXPECT_TRUE(switch_mutant("votes_twice"));
  EXPECT_TRUE(mutant(Mutant::VotesTwice));
  EXPECT_TRUE(switch_mutant("leads_in_silence"));
  EXPECT_FALSE(mutant(Mutant::VotesTwice));
  EXPECT_FALSE(switch_mutant("no_such_mutant"));
  EXPECT_TRUE(mutant(Mutant::LeadsInSilence));
  active_mutant = before;
}

#else

// The defect itself is then dead code for any compiler.
TEST(MutantTest, IsAConstantFalseInEveryOtherBuild) {
  static_assert(!mutant(Mutant::VotesTwice));
  EXPECT_FALSE(mutant(Mutant::VotesTwice));
}

#endif

}  // namespace
}  // namespace coordkit
