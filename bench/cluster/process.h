// What every replica process of the benchmark does: says lines of JSON on standard output, one thread at a time, and opens a
// replica with default options that tells of leadership ({"term", "leads"}) and of its end ({"error"}).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/cluster.h"
#include "coordkit/replica.h"

namespace coordkit::bench {

void say(const nlohmann::ordered_json& line);
int fail(const absl::Status& status);  // says the error; the exit status
ReplicaOptions replica_options(const std::string& cluster, const MemberOptions& options);

}  // namespace coordkit::bench
