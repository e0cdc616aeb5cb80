// The spoiled-files experiment, briefly: whatever happens to the files of one member of three, its process lives, it reports
// what is wrong, and nothing acknowledged is lost. Real processes; nothing asserts how long it took.
#include "tests/system/experiment/report_of.h"

namespace coordkit {
namespace {

// Covers: FLT_D08 FLT_D11
TEST(SpoiledFilesTest, SpoiledFilesEndNoProcessAndLoseNothing) {
  const nlohmann::json result = testkit::report_of("spoiled-files --runs 24 --running 8 --seed 3", "spoiled");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["lost"], 0);
  EXPECT_EQ(result["outcomes"]["died"], 0);
  EXPECT_EQ(result["without_a_sentence"], 0);
  EXPECT_EQ(result["stopped"], 24);
}

}  // namespace
}  // namespace coordkit
