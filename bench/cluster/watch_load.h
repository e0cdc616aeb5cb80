// One prefix, many watches of it in the leader's process, and callers that put keys below it. A cycle is one put, from the call
// until the last watch has received it, and the caller puts again only then; events_per_s counts the events of all watches.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cluster/load.h"

namespace coordkit::bench {

nlohmann::ordered_json run_watch_load(Service& service, const LoadOptions& options);

}  // namespace coordkit::bench
