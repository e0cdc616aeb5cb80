// The soak experiment, briefly: what three processes hold at rest does not grow with what their callers made and gave up, and
// callers who forget something are noticed. Real processes; nothing asserts how long it took.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace coordkit {
namespace {

// The program's report; null if it failed before.
nlohmann::json soak_of(const std::string& arguments, const std::string& name) {
  const std::string out = ::testing::TempDir() + "/" + name;
  const std::string line = std::string("mkdir -p ") + out + " && " COORDKIT_EXPERIMENT_PROGRAM " soak --json --out " + out +
                           " " + arguments + " > " + out + "/stdout";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << line;
  std::ifstream in(out + "/stdout");
  return nlohmann::json::parse(in, nullptr, false);
}

TEST(SoakTest, NothingIsLeftOfWhatWasGivenUp) {
  const nlohmann::json result = soak_of("--seconds 90 --seed 1", "soak");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["not_empty"], 0);
  EXPECT_LT(result["objects_per_thousand"], 20);
  EXPECT_GT(result["scenes"], 0);
}

TEST(SoakTest, CallersWhoForgetAreNoticed) {
  const nlohmann::json result = soak_of("--seconds 90 --seed 2 --careless", "soak-careless");
  ASSERT_TRUE(result.is_object());
  EXPECT_GT(result["objects_per_thousand"], 20);
  EXPECT_EQ(result["not_empty"], result["rounds"]);
}

}  // namespace
}  // namespace coordkit
