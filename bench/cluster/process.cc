#include "bench/cluster/process.h"

#include <iostream>
#include <mutex>

namespace coordkit::bench {

void say(const nlohmann::ordered_json& line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << line.dump() << std::endl;
}

int fail(const absl::Status& status) {
  say({{"error", status.ToString()}});
  return 1;
}

ReplicaOptions replica_options(const std::string& cluster, const MemberOptions& options) {
  ReplicaOptions replica{.id = options.id, .cluster = cluster, .data_dir = options.data_dir};
  for (size_t i = 0; i < options.addresses.size(); ++i) replica.members.push_back({i + 1, options.addresses[i]});
  replica.security = PlainText{};
  replica.on_leadership = [](const raft::Leadership& now) {
    say({{"term", now.term.value()}, {"leads", now.role == raft::Role::Leader}});
  };
  replica.on_halt = [](const absl::Status& why) { say({{"error", "halted: " + why.ToString()}}); };
  return replica;
}

}  // namespace coordkit::bench
