// Runs an experiment with real processes and reads what it reports.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.h"

namespace coordkit::testkit {

enum class Ends : uint8_t { AsExpected, Somehow };  // the program says by its exit status whether all was as expected

// `command`: its name and arguments; `folder`: of its files, among those for tests. Null if it failed before its report.
inline nlohmann::json report_of(const std::string& command, const std::string& folder, Ends ends = Ends::AsExpected) {
  const std::string out = ::testing::TempDir() + "/" + folder;
  const std::string line = shell_word(COORDKIT_EXPERIMENT_PROGRAM) + " " + command + " --json --out " + shell_word(out) +
                           " > " + shell_word(out + "/stdout");
  std::filesystem::create_directories(out);
  const int status = run_command(line).status;
  EXPECT_TRUE(status >= 0 && (ends == Ends::Somehow || status == 0)) << line;
  std::ifstream in(out + "/stdout");
  return nlohmann::json::parse(in, nullptr, false);
}

}  // namespace coordkit::testkit
