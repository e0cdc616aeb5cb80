// The peer "skeleton": what this machine allows a durable service of three replicas, and nothing else. Three processes on
// loopback; the leader sends what its callers want to both others, writes and syncs it, and when two of the three disks have
// it, applies it to a hash map and answers. There are no elections, terms, sessions, checksums, snapshots or names, records
// have one size, and one thread a process does everything. A correct Raft cannot be faster; how much slower one is, is what its
// own code costs. Should ours come out ahead by more than the noise, look first for an answer that was given too early.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cluster/load.h"

namespace coordkit::bench::skeleton {

// The loads lock and handoff. As run_cluster().
nlohmann::ordered_json run(const std::filesystem::path& data, const LoadOptions& load);

struct ReplicaArguments {
  std::string data;                    // the file of its log
  std::string address;                 // a follower's own
  std::vector<std::string> followers;  // the leader's
  LoadOptions load;                    // of the leader's callers
};

// The processes. Standard output: {"ready"} of a follower that is about to listen, {"result"} of the leader, {"error"}.
int run_follower(const ReplicaArguments& arguments);
int run_leader(const ReplicaArguments& arguments);

}  // namespace coordkit::bench::skeleton
