// The load "sticky": every caller is a thread that acquires and releases a lock of its own, which its session keeps (S-58); one
// cycle is both. No durable commit, no other thread: the cost is this library's own code and the clock. All callers share one
// session, as the threads of a service do.
#pragma once

#include <nlohmann/json.hpp>

#include "coordkit/replica.h"

namespace coordkit::bench {

// cycles_per_s, p50_us, p99_us, p999_us (of the means of a thousand cycles, because one is as short as reading the clock),
// errors and, if there were any, the first one.
nlohmann::ordered_json run_sticky_load(Service& service, size_t callers, double warmup_s, double seconds);

}  // namespace coordkit::bench
