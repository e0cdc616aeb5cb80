// The experiments with load, briefly: a stopped follower catches up, a replica with a large state restarts.
#include "tests/system/experiment/report_of.h"

namespace coordkit {
namespace {

// Covers: FLT_O07
TEST(LoadExperimentTest, AFollowerThatStoodStillUnderLoadComesBackWithOneTransferAtMost) {
  const nlohmann::json result =
      testkit::report_of("catch-up --state 100 --rate 10 --seconds 15 --limit 300", "catch-up", testkit::Ends::Somehow);
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["caught_up"], true) << result.dump();
  EXPECT_LE(result["transfers"], 1 + result["terms"].get<int>()) << result.dump();
}

TEST(LoadExperimentTest, ARestartNeedsNoMemoryForALongLog) {
  const nlohmann::json result = testkit::report_of("restart --state 200 --log 400", "restart", testkit::Ends::Somehow);
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

}  // namespace
}  // namespace coordkit
