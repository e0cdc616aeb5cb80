// The peer "redlock": the recipe of that name on three independent Redis servers. An acquire is SET NX PX on all three at once
// and holds when two agreed, a release is the usual script that deletes what is still its own. Every server syncs its file
// before it answers (appendfsync always), and all three answers are waited for. This is no consensus: there is no token, and
// it depends on clocks; it stands here because people choose it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/load.h"

namespace coordkit::bench::redis {

// The load lock, with all callers in this thread and their commands pipelined on one connection to each server: the best case
// for Redis. As run_cluster(); `program` is redis-server.
nlohmann::ordered_json run_redlock(const std::string& program, const std::filesystem::path& data, const LoadOptions& load);

}  // namespace coordkit::bench::redis
