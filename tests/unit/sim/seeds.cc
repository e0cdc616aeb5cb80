#include "tests/unit/sim/seeds.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "coordkit/sim/sim_options.h"
#include "tests/support/source_dir.h"

namespace coordkit::sim {
namespace {

std::string story(const Report& report) {
  std::string text = report.violation + " in seed " + std::to_string(report.seed) + ": " + report.what;
  for (const std::string& line : report.last_events) text += "\n  " + line;
  return text;
}

}  // namespace

void expect_seeds_hold(const std::string& file, size_t share, size_t shares) {
  std::ifstream lines(source_dir() + "/tests/unit/sim/" + file);
  ASSERT_TRUE(lines.is_open());
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#' || count++ % shares != share) continue;
    std::istringstream words(line);
    SimOptions options{.black_box = BlackBox::Every};
    int64_t seconds = 0;
    ASSERT_TRUE(words >> options.seed >> options.profile >> seconds) << line;
    options.hostile_time = std::chrono::seconds(seconds);
    const Report report = simulate(options);
    EXPECT_EQ(report.violation, "") << story(report);
  }
  EXPECT_GT(count, share);
}

}  // namespace coordkit::sim
