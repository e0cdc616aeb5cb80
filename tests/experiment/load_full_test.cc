// The experiments with load, briefly: a stopped follower catches up, a replica with a large state restarts.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace coordkit {
namespace {

// The program's report; null if it failed before. Its speed is not checked.
nlohmann::json result_of(const std::string& arguments, const std::string& name) {
  const std::string out = ::testing::TempDir() + "/" + name;
  const std::string line =
      "mkdir -p " + out + " && " COORDKIT_EXPERIMENT_PROGRAM " " + arguments + " --json --out " + out + " > " + out + "/stdout";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status)) << line;
  std::ifstream in(out + "/stdout");
  return nlohmann::json::parse(in, nullptr, false);
}

TEST(LoadExperimentTest, FLT_O07_AFollowerThatStoodStillUnderLoadComesBackWithOneTransferAtMost) {
  const nlohmann::json result = result_of("catch-up --state 100 --rate 10 --seconds 15 --limit 300", "catch-up");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["caught_up"], true) << result.dump();
  EXPECT_LE(result["transfers"], 1 + result["terms"].get<int>()) << result.dump();
}

TEST(LoadExperimentTest, ARestartNeedsNoMemoryForALongLog) {
  const nlohmann::json result = result_of("restart --state 200 --log 400", "restart");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

}  // namespace
}  // namespace coordkit
