// The strangers experiment, briefly: real processes at work, attacked by peers that were never invited.
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
  const std::string line = std::string("mkdir -p ") + out + " && " COORDKIT_EXPERIMENT_PROGRAM " strangers --json --out " +
                           out + " " + arguments + " > " + out + "/stdout";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << line;
  std::ifstream in(out + "/stdout");
  return nlohmann::json::parse(in, nullptr, false);
}

TEST(StrangersExperimentTest, FLT_S07_FLT_S09_NothingComesOfThem) {
  const nlohmann::json result = run("--seconds 15", "plain");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

TEST(StrangersExperimentTest, FLT_S03_NorWithASecret) {
  const nlohmann::json result = run("--seconds 15 --with-secret", "secret");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["as_expected"], true) << result.dump();
}

}  // namespace
}  // namespace coordkit
