// One replica process of the benchmark. Standard input: one JSON object of LoadOptions a line, run one after the other.
// Standard output: {"term", "leads"} at each change, {"ready"}, {"result"} of each load, {"error"}.
#include <iostream>

#include "bench/cluster/measure.h"
#include "bench/cluster/process.h"

namespace coordkit::bench {
namespace {

// Of all that the log wrote meanwhile, with every header and all padding, for one acquire and its release, beyond their names:
// both say one.
double log_bytes_of_cycle(const Metrics& before, const Metrics& after, size_t callers) {
  size_t names = 0;
  for (size_t caller = 0; caller < callers; ++caller) {
    names += 2 * (std::string_view("lock-").size() + std::to_string(caller).size());
  }
  const auto bytes = static_cast<double>(after.log.written_bytes - before.log.written_bytes);
  const auto cycles = static_cast<double>(after.locks.grants - before.locks.grants);
  return one_digit(bytes / cycles - static_cast<double>(names) / static_cast<double>(callers));
}

// The figures are those of callers beside the leader, or beside a follower: if this replica was not that from beginning to end,
// they are worth nothing.
nlohmann::ordered_json run_in_role(Replica& replica, const LoadOptions& load) {
  const raft::Role role = load.where == "follower" ? raft::Role::Follower : raft::Role::Leader;
  const Health before = replica.health();
  const Metrics metrics = metrics_of(replica);
  nlohmann::ordered_json result = run_load(replica, load);
  const Health after = replica.health();
  if (load.kind == "lock" && load.where == "embedded") {
    result["log_bytes_per_cycle"] = log_bytes_of_cycle(metrics, metrics_of(replica), load.callers);
  }
  if (before.role != role || after.role != role || before.term != after.term) {
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
    say({{"result", run_in_role(**replica, nlohmann::json::parse(line).get<LoadOptions>())}});
  }
  const absl::Status closed = (*replica)->close();
  return closed.ok() ? 0 : fail(closed);
}

}  // namespace coordkit::bench
