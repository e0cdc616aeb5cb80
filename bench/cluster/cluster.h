// Three replica processes on loopback, started and ended by this program, with default options.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cluster/load.h"

namespace coordkit::bench {

// Starts a cluster in an empty folder, lets the process run the load that has the callers (LoadOptions::where), and ends the
// cluster. Throws std::runtime_error with a sentence: a process failed, or no answer came within the bounds.
nlohmann::ordered_json run_cluster(const std::filesystem::path& data, const LoadOptions& load);

struct MemberOptions {
  uint64_t id = 0;
  std::vector<std::string> addresses;  // of members 1, 2, 3
  std::string data_dir;
  std::string security = "plain";    // as of LoadOptions
  std::string certificates;          // the folder, with tls
  uint32_t election_timeout_ms = 0;  // 0: the default
  uint64_t history = 0;              // revisions of the keys that stay readable; 0: all
  std::string remotes;               // the address for remotes; empty: none
};

// One of the processes: a replica that takes commands on standard input.
int run_member(const MemberOptions& options);
// The same for a process without a replica. `gateways`: the replicas that may serve it.
int run_remote(const std::vector<std::string>& gateways);

}  // namespace coordkit::bench
