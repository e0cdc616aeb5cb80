// The lost-update experiment, briefly: with the gate nothing is lost, and without gate and check something is, so that the
// first means something. Real processes and real deadlines; nothing asserts how long it took.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace coordkit {
namespace {

// The program's report; null if it failed before.
nlohmann::json run(const std::string& arguments, const std::string& name) {
  const std::string out = ::testing::TempDir() + "/" + name;
  const std::string line = std::string("mkdir -p ") + out + " && " COORDKIT_EXPERIMENT_PROGRAM " lost-update --json --out " +
                           out + " " + arguments + " > " + out + "/stdout";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << line;
  std::ifstream in(out + "/stdout");
  return nlohmann::json::parse(in, nullptr, false);
}

TEST(LostUpdateTest, INV_L14_BehindTheGateNoUpdateIsLost) {
  const nlohmann::json result = run("--seconds 32 --seed 1", "gate");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["lost_updates"], 0);
  EXPECT_GT(result["writes"], 0);
  EXPECT_GE(result["stops"], 3);
}

TEST(LostUpdateTest, INV_L14_TheGateAloneIsEnough) {
  const nlohmann::json result = run("--seconds 32 --seed 2 --without-check", "gate-alone");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["lost_updates"], 0);
  EXPECT_GT(result["refused_by_gate"], 0);
}

TEST(LostUpdateTest, WithoutGateAndCheckSomeAreLost) {
  const nlohmann::json result = run("--seconds 32 --seed 3 --without-gate --without-check", "neither");
  ASSERT_TRUE(result.is_object());
  EXPECT_GT(result["lost_updates"], 0);
}

}  // namespace
}  // namespace coordkit
