#include "bench/skeleton/skeleton.h"

#include <chrono>
#include <exception>

#include "bench/cluster/processes.h"
#include "bench/skeleton/callers.h"
#include "tools/support/loopback.h"

namespace coordkit::bench::skeleton {
namespace {

using namespace std::chrono_literals;

constexpr int kLeader = 3;
constexpr auto kLimit = 60s;

std::vector<std::string> leader_arguments(const std::filesystem::path& log, const std::vector<std::string>& followers,
                                          const LoadOptions& load) {
  std::vector<std::string> arguments = {"skeleton-leader", "--data", log, "--load", nlohmann::json(load).dump(), "--followers"};
  arguments.insert(arguments.end(), followers.begin(), followers.end());
  return arguments;
}

}  // namespace

nlohmann::ordered_json run(const std::filesystem::path& data, const LoadOptions& load) {
  const std::vector<std::string> followers = support::free_loopback_addresses(kLeader - 1);
  Processes processes;
  for (int id = 1; id < kLeader; ++id) {
    const std::string log = data / std::to_string(id);
    processes.start(id, {"skeleton-follower", "--data", log, "--address", followers[static_cast<size_t>(id) - 1]});
  }
  for (int ready = 1; ready < kLeader; ++ready) processes.listen(support::in(kLimit), "the followers are ready");
  processes.start(kLeader, leader_arguments(data / std::to_string(kLeader), followers, load));
  const auto length = std::chrono::ceil<std::chrono::seconds>(Seconds(load.warmup_s + load.seconds));
  return processes.listen(support::in(length + kLimit), "the load ends").line.at("result");
}

}  // namespace coordkit::bench::skeleton
