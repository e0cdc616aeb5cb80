// The loads, run inside one replica's process against that replica.
//
//   lock      every caller acquires and releases its own lock; one cycle is both, one after the other: two durable commits
//   handoff   all callers want one lock; one cycle is one hand-off, from the call of release to the moment the next caller
//             knows that it holds the lock: one durable commit
//
// Where the callers are: "embedded" drives all of them by callbacks of the async calls, on the engine's own thread, as an
// event-driven service would; "blocking" gives each a thread that uses the blocking calls.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "coordkit/replica.h"

namespace coordkit::bench {

struct LoadOptions {
  std::string suite;  // lock, handoff
  std::string where;  // embedded, blocking
  size_t callers = 1;
  double warmup_s = 1;
  double seconds = 5;
};

void to_json(nlohmann::json& json, const LoadOptions& options);
void from_json(const nlohmann::json& json, LoadOptions& options);

// cycles_per_s, p50_us, p99_us, p999_us, errors (failed calls; two holders at once) and, if there were any, the first one.
nlohmann::ordered_json run_load(Replica& replica, const LoadOptions& options);

}  // namespace coordkit::bench
