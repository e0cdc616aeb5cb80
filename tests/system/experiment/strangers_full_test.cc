// The strangers experiment, briefly: real processes at work, attacked by peers that were never invited.
#include "tests/system/experiment/report_of.h"

namespace coordkit {
namespace {

// Covers: FLT_S07 FLT_S09
TEST(StrangersExperimentTest, StrangersWithoutTheSecretDisturbNothing) {
  const nlohmann::json result = testkit::report_of("strangers --seconds 15", "plain");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

// Covers: FLT_S03
TEST(StrangersExperimentTest, StrangersAtAClusterWithASecretDisturbNothing) {
  const nlohmann::json result = testkit::report_of("strangers --seconds 15 --with-secret", "secret");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

}  // namespace
}  // namespace coordkit
