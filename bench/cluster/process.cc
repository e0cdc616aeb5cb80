#include "bench/cluster/process.h"

#include <iostream>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "coordkit/operate/log_to_stderr.h"
#include "tools/certificates/folder.h"

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

absl::StatusOr<std::unique_ptr<Replica>> open_member(const std::string& cluster, const MemberOptions& options) {
  ReplicaOptions wanted{.id = options.id, .cluster = cluster, .data_dir = options.data_dir};
  for (size_t i = 0; i < options.addresses.size(); ++i) wanted.members.push_back({i + 1, options.addresses[i]});
  if (options.security == "tls") {
    wanted.security = support::tls_of(options.certificates, options.id);
  } else if (options.security == "secret") {
    wanted.security = SharedSecret{std::string(32, 's')};
  } else {
    wanted.security = PlainText{};
  }
  if (options.election_timeout_ms != 0) wanted.election_timeout = std::chrono::milliseconds(options.election_timeout_ms);
  if (!options.remotes.empty()) wanted.remotes = {.listen = options.remotes, .security = PlainText{}};
  wanted.compaction.revisions = options.history;
  wanted.on_event = log_to_stderr(Severity::Warning);  // what disturbs a measurement
  wanted.on_leadership = [](const raft::Leadership& now) {
    say({{"term", now.term.value()}, {"leads", now.role == raft::Role::Leader}});
  };
  wanted.on_halt = [](const absl::Status& why) { say({{"error", "halted: " + why.ToString()}}); };
  absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(wanted));
  if (!replica.ok()) return replica;
  if (absl::Status ready = (*replica)->wait_ready(std::chrono::seconds(60)); !ready.ok()) return ready;
  say({{"ready", true}});
  return replica;
}

Metrics metrics_of(const Service& service) {
  absl::StatusOr<Metrics> metrics = service.metrics();
  if (!metrics.ok()) throw std::runtime_error(metrics.status().ToString());
  return *std::move(metrics);
}

}  // namespace coordkit::bench
