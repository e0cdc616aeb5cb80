// The soak experiment, briefly: what three processes hold at rest does not grow with what their callers made and gave up, and
// callers who forget something are noticed. Real processes; nothing asserts how long it took.
#include "tests/system/experiment/report_of.h"

namespace coordkit {
namespace {

TEST(SoakTest, NothingIsLeftOfWhatWasGivenUp) {
  const nlohmann::json result = testkit::report_of("soak --seconds 90 --seed 1", "soak");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["not_empty"], 0);
  EXPECT_LT(result["objects_per_thousand"], 20);
  EXPECT_GT(result["scenes"], 0);
}

TEST(SoakTest, CallersWhoForgetAreNoticed) {
  const nlohmann::json result = testkit::report_of("soak --seconds 90 --seed 2 --careless", "soak-careless");
  ASSERT_TRUE(result.is_object());
  EXPECT_GT(result["objects_per_thousand"], 20);
  EXPECT_EQ(result["not_empty"], result["rounds"]);
}

}  // namespace
}  // namespace coordkit
