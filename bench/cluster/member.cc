// One replica process of the benchmark. Standard input: one JSON object of LoadOptions a line, run one after the other.
// Standard output: {"term", "leads"} at each change, {"ready"}, {"result"} of each load, {"error"}.
#include <iostream>

#include "bench/cluster/process.h"

namespace coordkit::bench {
namespace {

// The figures are those of callers beside the leader: if it did not lead from beginning to end, they are worthless.
nlohmann::ordered_json run_as_leader(Replica& replica, const LoadOptions& load) {
  const Health before = replica.health();
  nlohmann::ordered_json result = run_load(replica, load);
  const Health after = replica.health();
  if (before.role != raft::Role::Leader || after.role != raft::Role::Leader || before.term != after.term) {
    result["errors"] = result["errors"].get<uint64_t>() + 1;
    if (!result.contains("first_error")) result["first_error"] = "leadership changed during the measurement";
  }
  return result;
}

}  // namespace

int run_member(const MemberOptions& options) {
  absl::StatusOr<std::unique_ptr<Replica>> replica = open_member("bench", options);
  if (!replica.ok()) return fail(replica.status());
  for (std::string line; std::getline(std::cin, line);) {
    say({{"result", run_as_leader(**replica, nlohmann::json::parse(line).get<LoadOptions>())}});
  }
  const absl::Status closed = (*replica)->close();
  return closed.ok() ? 0 : fail(closed);
}

}  // namespace coordkit::bench
