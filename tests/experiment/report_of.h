// Runs an experiment with real processes and reads what it reports.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace coordkit::testkit {

enum class Ends : uint8_t { AsExpected, Somehow };  // the program says by its exit status whether all was as expected

// `command`: its name and arguments; `folder`: of its files, among those for tests. Null if it failed before its report.
inline nlohmann::json report_of(const std::string& command, const std::string& folder, Ends ends = Ends::AsExpected) {
  const std::string out = ::testing::TempDir() + "/" + folder;
  const std::string line =
      "mkdir -p " + out + " && " COORDKIT_EXPERIMENT_PROGRAM " " + command + " --json --out " + out + " > " + out + "/stdout";
  const int status = std::system(line.c_str());
  EXPECT_TRUE(WIFEXITED(status) && (ends == Ends::Somehow || WEXITSTATUS(status) == 0)) << line;
  std::ifstream in(out + "/stdout");
  return nlohmann::json::parse(in, nullptr, false);
}

}  // namespace coordkit::testkit
