// The load renewals: many sessions of one process (LoadOptions::callers), each with a lock and a short TTL, kept by the library
// at its own pace: a renewal is one message for all of them, so this is what is done by default and no limit. A cycle is the
// renewal of one session that was confirmed.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cluster/load.h"

namespace coordkit::bench {

// cycles_per_s, errors (sessions that were lost) and, from the send of a message to its answer, p50_us, p99_us.
nlohmann::ordered_json run_renewals_load(Service& service, const LoadOptions& options);

}  // namespace coordkit::bench
