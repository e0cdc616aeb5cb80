// FLT_V01: the builds that run on a simulated node.
#include "sim/nodes/node_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

class NodeBuildTest : public ::testing::Test {
 protected:
  World world_{1};
  Random random_{4};
  NodeBuild build_{world_, 0, /*upgraded=*/true};
};

// Covers: FLT_V01
TEST_F(NodeBuildTest, EveryLevelIsReachedAndSometimesLeftAgain) {
  std::set<uint64_t> levels;
  bool went_back = false;
  for (int node = 0; node < 50; ++node) {  // each goes up from level 0, past some
    NodeBuild build{world_, 0, /*upgraded=*/true};
    for (int start = 0; start < 20; ++start) {
      const uint64_t before = build.level();
      levels.insert(before);
      build.choose(random_);
      went_back = went_back || build.level() < before;
      levels.insert(build.level());
    }
  }
  EXPECT_EQ(*levels.begin(), 0u);
  EXPECT_EQ(*levels.rbegin(), kFeatureLevel);
  EXPECT_EQ(levels.size(), kFeatureLevel + 1);
  EXPECT_TRUE(went_back);
}

// Covers: INV_S08
TEST_F(NodeBuildTest, ABuildThatCannotReadIsAViolationUnlessANewerOneRanBefore) {
  EXPECT_THROW(build_.is_too_old(absl::UnimplementedError("a newer format")), Violation);
  for (uint64_t highest = 0; build_.level() >= highest;) {
    build_.choose(random_);
    highest = std::max(highest, build_.level());
  }
  build_.is_too_old(absl::UnimplementedError("a newer format"));
  EXPECT_TRUE(build_.too_old());
  build_.choose(random_);
  EXPECT_FALSE(build_.too_old());
  EXPECT_TRUE(build_.newest()) << "who read that starts the newest";
}

TEST_F(NodeBuildTest, WithoutUpgradesItIsAlwaysWhatProductionRuns) {
  NodeBuild build{world_, 0, /*upgraded=*/false};
  for (int start = 0; start < 20; ++start) {
    EXPECT_EQ(build.level(), kFeatureLevel);
    build.choose(random_);
  }
}

// Covers: FLT_V01
TEST_F(NodeBuildTest, InTheEndItStaysTheNewest) {
  build_.stay_newest();
  for (int start = 0; start < 20; ++start) {
    build_.choose(random_);
    EXPECT_TRUE(build_.newest());
  }
}

}  // namespace
}  // namespace coordkit::sim
