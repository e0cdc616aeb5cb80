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
nlohmann::json said_by(const std::string& arguments, const std::string& name) {
  const std::string out = ::testing::TempDir() + "/" + name;
  const std::string line =
      "mkdir -p " + out + " && " COORDKIT_EXPERIMENT_PROGRAM " " + arguments + " --json --out " + out + " > " + out + "/said";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status)) << line;
  std::ifstream said(out + "/said");
  return nlohmann::json::parse(said, nullptr, false);
}

TEST(LoadExperimentTest, FLT_O07_AFollowerThatStoodStillUnderLoadComesBackWithOneTransferAtMost) {
  const nlohmann::json said = said_by("catch-up --state 100 --rate 10 --seconds 15 --limit 300", "catch-up");
  ASSERT_TRUE(said.is_object());
  EXPECT_EQ(said["caught_up"], true) << said.dump();
  EXPECT_LE(said["transfers"], 1 + said["terms"].get<int>()) << said.dump();
}

TEST(LoadExperimentTest, ARestartNeedsNoMemoryForALongLog) {
  const nlohmann::json said = said_by("restart --state 200 --log 400", "restart");
  ASSERT_TRUE(said.is_object());
  EXPECT_EQ(said["as_expected"], true) << said.dump();
}

}  // namespace
}  // namespace coordkit
