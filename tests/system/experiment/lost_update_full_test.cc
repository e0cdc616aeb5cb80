// The lost-update experiment, briefly: with the gate nothing is lost, and without gate and check something is, so that the
// first means something. Real processes and real deadlines; nothing asserts how long it took.
#include "tests/system/experiment/report_of.h"

namespace coordkit {
namespace {

// Covers: INV_L14
TEST(LostUpdateTest, BehindTheGateNoUpdateIsLost) {
  const nlohmann::json result = testkit::report_of("lost-update --seconds 32 --seed 1", "gate");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["lost_updates"], 0);
  EXPECT_GT(result["writes"], 0);
  EXPECT_GE(result["stops"], 3);
}

// Covers: INV_L14
TEST(LostUpdateTest, TheGateAloneIsEnough) {
  const nlohmann::json result = testkit::report_of("lost-update --seconds 32 --seed 2 --without-check", "gate-alone");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["lost_updates"], 0);
  EXPECT_GT(result["refused_by_gate"], 0);
}

TEST(LostUpdateTest, WithoutGateAndCheckSomeAreLost) {
  const nlohmann::json result =
      testkit::report_of("lost-update --seconds 32 --seed 3 --without-gate --without-check", "neither");
  ASSERT_TRUE(result.is_object());
  EXPECT_GT(result["lost_updates"], 0);
}

}  // namespace
}  // namespace coordkit
