// Callers without a replica, judged like all others.
#include <gtest/gtest.h>

#include <string>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

struct Seen {
  uint64_t dials = 0;
  uint64_t crashes = 0;
  uint64_t pauses = 0;
};

Report run(uint64_t seed, Seen& seen) {
  SimOptions options{.seed = seed, .profile = "remotes", .hostile_time = std::chrono::seconds(10)};
  options.on_event = [&seen](const std::string& line) {
    seen.dials += line.find("dials its gateway") != std::string::npos ? 1 : 0;
    seen.crashes += line.find("crashes; it had no replica") != std::string::npos ? 1 : 0;
    seen.pauses += line.find("is frozen") != std::string::npos ? 1 : 0;
  };
  return simulate(options);
}

// They move, crash and stand still, so that holding means something.
// Covers: FLT_N01 FLT_N02 FLT_N10 S-67 S-68
TEST(RemoteCallersTest, ThoseWithoutAReplicaKeepEveryPromise) {
  Seen seen;
  uint64_t grants = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const Report report = run(seed, seen);
    ASSERT_EQ(report.violation, "") << "seed " << seed << ": " << report.what;
    grants += report.grants;
  }
  EXPECT_GT(seen.dials, 200u);
  EXPECT_GT(seen.crashes, 20u);
  EXPECT_GT(seen.pauses, 50u);
  EXPECT_GT(grants, 500u);
}

TEST(RemoteCallersTest, TheSameSeedGivesTheSameRun) {
  Seen seen;
  EXPECT_EQ(run(3, seen).trace_hash, run(3, seen).trace_hash);
  EXPECT_NE(run(3, seen).trace_hash, run(4, seen).trace_hash);
}

}  // namespace
}  // namespace coordkit::sim
