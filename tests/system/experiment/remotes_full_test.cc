// The remotes experiment, briefly: real processes with many remotes, whose gateways are killed under calls. Nothing that was
// acknowledged is lost or runs twice, no watch has a gap, no session ends, and all remotes come back. Counts only; nothing
// asserts how long it took.
#include "tests/system/experiment/report_of.h"

namespace coordkit {
namespace {

// Covers: S-67 S-68
TEST(RemotesExperimentTest, KillsOfGatewaysLoseNeitherCallsNorSessionsNorChanges) {
  const nlohmann::json result = testkit::report_of(
      "remotes --remotes 30 --processes 3 --sessions 3 --kills 3 --watches 300 --puts 60 --seconds 2", "remotes");
  ASSERT_TRUE(result.is_object());
  EXPECT_GT(result["done"], 0);
  EXPECT_EQ(result["lost"], 0) << result.dump();
  EXPECT_EQ(result["twice"], 0) << result.dump();
  EXPECT_EQ(result["watch_gaps"], 0) << result.dump();
  EXPECT_EQ(result["watch_repeats"], 0) << result.dump();
  EXPECT_EQ(result["sessions_lost"], 0) << result.dump();
  EXPECT_EQ(result["sessions_valid"], 90) << result.dump();
  EXPECT_EQ(result["back"], 30) << result.dump();
  EXPECT_GT(result["moves"], 0) << result.dump();
}

}  // namespace
}  // namespace coordkit
