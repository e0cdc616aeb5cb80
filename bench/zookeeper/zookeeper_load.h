// The peer "zookeeper": its recipe for locks. An acquire makes an ephemeral sequential node and lists the children of the lock,
// a release deletes the node: two durable writes and a read.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/load.h"

namespace coordkit::bench::zookeeper {

// The load lock: all callers in this thread, on up to 16 sessions with the leader. The servers are warmed up by ten seconds of
// load at least, or Java would still interpret. As run_cluster(); `jars` is the class path.
nlohmann::ordered_json run_lock(const std::string& jars, const std::filesystem::path& data, const LoadOptions& load);

}  // namespace coordkit::bench::zookeeper
