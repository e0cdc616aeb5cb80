// The peer "etcd": the loads of kv_load.h, the load lock, and renewals of leases, on an etcd cluster, by gRPC calls to its
// leader over a few connections, from this process: a client cannot be nearer to an etcd.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/load.h"

namespace coordkit::bench {

// On a cluster of its own in an empty folder, as run_cluster(). Throws std::runtime_error with a sentence.
nlohmann::ordered_json run_etcd(const std::string& program, const std::filesystem::path& data, const LoadOptions& load);

}  // namespace coordkit::bench
