// The history experiment, briefly: what the callers of killed and stopped processes saw could have come from one service, and
// holders who do not ask whether they still hold are caught. Real processes; nothing asserts how long it took.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace coordkit {
namespace {

// The program's report; null if it failed before.
nlohmann::json history_of(const std::string& arguments, const std::string& name) {
  const std::string out = ::testing::TempDir() + "/" + name;
  const std::string line = std::string("mkdir -p ") + out + " && " COORDKIT_EXPERIMENT_PROGRAM " history --json --out " + out +
                           " " + arguments + " > " + out + "/stdout";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << line;
  std::ifstream in(out + "/stdout");
  return nlohmann::json::parse(in, nullptr, false);
}

TEST(HistoryTest, INV_K01_INV_L01_WhatCallersOfKilledAndStoppedProcessesSawIsLinearizable) {
  const nlohmann::json result = history_of("--seconds 30 --seed 1", "history");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["keys"], "linearizable");
  EXPECT_EQ(result["locks"], "linearizable");
  EXPECT_EQ(result["watch_errors"], 0);
  EXPECT_GT(result["answered"], 0);
}

TEST(HistoryTest, HoldersWhoDoNotAskAreCaught) {
  const nlohmann::json result = history_of("--seconds 30 --seed 2 --without-check", "history-without-check");
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result["locks"], "violation");
  EXPECT_EQ(result["keys"], "linearizable");
}

}  // namespace
}  // namespace coordkit
