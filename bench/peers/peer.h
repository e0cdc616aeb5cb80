// Other systems under the same loads, in the same rounds as ours. Their programs are not ours to install: the user of the
// benchmark names them (./dev fetches the packages), and what is missing becomes a line that says so.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cluster/load.h"

namespace coordkit::bench {

struct PeerPrograms {
  std::string etcd, redis_server;  // empty: not there
  std::string zookeeper;           // its class path
};

struct Peer {
  std::string name;
  std::string where;               // its callers are: embedded, as LoadOptions::where; client: in a process of their own
  std::vector<std::string> kinds;  // of load that it can do
  bool paced = false;              // where a kind can be, this one can be offered at a rate too
  // On a cluster of its own in an empty folder, as run_cluster(). Throws std::runtime_error with a sentence.
  std::function<nlohmann::ordered_json(const std::filesystem::path& data, const LoadOptions& load)> run;

  bool can(std::string_view kind) const;
};

std::vector<std::string> peer_names();
Peer peer_of(const std::string& name, const PeerPrograms& programs);  // throws std::out_of_range

}  // namespace coordkit::bench
