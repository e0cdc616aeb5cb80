// What every replica process of the benchmark does: prints lines of JSON on standard output, one thread at a time. The parent's
// side is processes.h.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/cluster.h"
#include "coordkit/operate/metrics.h"
#include "coordkit/replica.h"

namespace coordkit::bench {

void say(const nlohmann::ordered_json& line);
int fail(const absl::Status& status);  // prints the error; returns the exit status
// A replica with default options, once ready; prints {"ready"}, {"term", "leads"} at each change, and {"error"} when
// it halts.
absl::StatusOr<std::unique_ptr<Replica>> open_member(const std::string& cluster, const MemberOptions& options);

Metrics metrics_of(const Service& service);  // throws std::runtime_error: it has halted

}  // namespace coordkit::bench
