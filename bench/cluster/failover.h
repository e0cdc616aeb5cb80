// The suite "failover": how long a cluster is without a leader when the leader's process is killed, with a few sessions and
// with a million, each with a lock (16-byte name). Three processes with their data on disk; the sessions belong to one that is
// never killed, and a caller there acquires and releases all the time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/cluster/cluster.h"
#include "bench/cluster/suite.h"

namespace coordkit::bench {

struct FailoverOptions {
  std::vector<uint64_t> sessions{10, 1'000'000};  // one cluster each
  uint32_t election_timeout_ms = 0;               // of ReplicaOptions; 0: the default
  uint32_t kills = 5;                             // of leaders, each replaced before the next
};

// For each number of sessions a line for opening (opened_per_s), one of each kill and one of their medians: election_ms from
// the kill until another process reports that it leads; longest_gap_ms between two grants of the caller around it; back_s
// from the start of the killed replica on the same data to its readiness. False: a session was lost, or the caller refused.
// Throws std::runtime_error with a sentence: a process failed, or no answer came within the bounds.
bool run_failover(const std::filesystem::path& data, const FailoverOptions& options, const PrintLine& print);

// One of the processes. Standard input: {"open": sessions}, {"lead": member}, {"lap": true}, {"count": true}. Standard output:
// {"ready"}, {"term", "leads"} at each change, {"opened"}, {"led"}, {"lap"}, {"valid"}, {"error"}.
int run_failover_member(const MemberOptions& options);

}  // namespace coordkit::bench
