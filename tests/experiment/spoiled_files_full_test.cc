// The spoiled-files experiment, briefly: whatever happens to the files of one member of three, its process lives, it reports
// what is wrong, and nothing acknowledged is lost. Real processes; nothing asserts how long it took.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace coordkit {
namespace {

TEST(SpoiledFilesTest, FLT_D08_FLT_D11_SpoiledFilesEndNoProcessAndLoseNothing) {
  const std::string out = ::testing::TempDir() + "/spoiled";
  const std::string line = "mkdir -p " + out +
                           " && " COORDKIT_EXPERIMENT_PROGRAM " spoiled-files --json --runs 24 --running 8 --seed 3 --out " +
                           out + " > " + out + "/stdout";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << line;
  std::ifstream file(out + "/stdout");
  const nlohmann::json result = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["lost"], 0);
  EXPECT_EQ(result["outcomes"]["died"], 0);
  EXPECT_EQ(result["without_a_sentence"], 0);
  EXPECT_EQ(result["stopped"], 24);
}

}  // namespace
}  // namespace coordkit
