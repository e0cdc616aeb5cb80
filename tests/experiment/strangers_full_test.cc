// The strangers experiment, briefly: real processes at work, attacked by peers that were never invited.
#include "tests/experiment/report_of.h"

namespace coordkit {
namespace {

TEST(StrangersExperimentTest, FLT_S07_FLT_S09_NothingComesOfThem) {
  const nlohmann::json result = testkit::report_of("strangers --seconds 15", "plain");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

TEST(StrangersExperimentTest, FLT_S03_NorWithASecret) {
  const nlohmann::json result = testkit::report_of("strangers --seconds 15 --with-secret", "secret");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

}  // namespace
}  // namespace coordkit
