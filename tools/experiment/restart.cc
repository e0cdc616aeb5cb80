// One replica with a large state is restarted: how long that takes, and its peak memory, compared with what it needed before.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/experiment/load_group.h"
#include "tools/experiment/roles.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

constexpr double kOftenMax = 1.2;  // of what it had allocated before
constexpr uint64_t kRestMib = 64;  // allowance for a replica without state
constexpr uint64_t kShortLogMib = 64;

}  // namespace

int run_restart(const RestartOptions& options) {
  const std::filesystem::path data = options.out / "restart-data";
  const bool long_log = options.log_mb > kShortLogMib;  // kept for an absent member
  LoadGroup group(data, options.out / "restart.log", long_log ? kNodes : 1, options.log_mb);
  const uint64_t keys = options.state_mb * 1'000'000 / options.value_bytes;
  group.start_all();
  if (long_log) group.stop(3);
  group.say(1, "fill " + std::to_string(keys) + " " + std::to_string(options.value_bytes));
  group.need(group.until(20min, [&] { return group.news(1).filled; }), "a filled state");
  group.say(1, "load 20000000");  // so that there is a log to replay
  group.pass(5s);
  group.say(1, "load 0");
  group.pass(2s);
  const uint64_t before = group.memory(1).anonymous;
  const uint64_t applied = group.news(1).applied;
  group.stop(1);

  const auto begun = std::chrono::steady_clock::now();
  group.start(1);
  group.need(group.until(20min, [&] { return group.ready(1); }), "a member that is ready again");
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  group.pass(2s);
  const MemoryUse after = group.memory(1);
  const double state_mib = static_cast<double>(before);
  const double ratio = static_cast<double>(after.peak) / state_mib;
  const bool fine = group.news(1).applied >= applied && static_cast<double>(after.peak) <= kOftenMax * state_mib + kRestMib;
  const nlohmann::ordered_json line{{"experiment", "restart"},
                                    {"state_mb", options.state_mb},
                                    {"value_bytes", options.value_bytes},
                                    {"log_mib", options.log_mb},
                                    {"seconds", took},
                                    {"anonymous_mib_before", before},
                                    {"anonymous_mib_peak", after.anonymous_peak},
                                    {"anonymous_mib_after", after.anonymous},
                                    {"peak_mib", after.peak},
                                    {"peak_to_before", ratio},
                                    {"as_expected", fine}};
  std::printf("%s\n", line.dump().c_str());
  group.stop(1);
  if (long_log) group.stop(2);
  std::filesystem::remove_all(data);
  return fine ? 0 : 1;
}

}  // namespace coordkit::experiment
