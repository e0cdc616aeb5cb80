// A process of the benchmark without a replica. Input and output are those of a member (member.cc).
#include <iostream>

#include "bench/cluster/cluster.h"
#include "bench/cluster/process.h"
#include "coordkit/remote.h"

namespace coordkit::bench {

int run_remote(const std::vector<std::string>& gateways) {
  absl::StatusOr<std::unique_ptr<Remote>> remote = Remote::open(
      {.cluster = "bench", .gateways = gateways, .security = PlainText{}, .busy_poll = std::chrono::microseconds(50)});
  if (!remote.ok()) return fail(remote.status());
  if (absl::Status ready = (*remote)->wait_ready(std::chrono::seconds(60)); !ready.ok()) return fail(ready);
  say({{"ready", true}});
  for (std::string line; std::getline(std::cin, line);) {
    say({{"result", run_load(**remote, nlohmann::json::parse(line).get<LoadOptions>())}});
  }
  const absl::Status closed = (*remote)->close();
  return closed.ok() ? 0 : fail(closed);
}

}  // namespace coordkit::bench
