// The load "overload": far more puts than the cluster can take, for a minute, beside sessions that must not be affected.
//
// First the capacity: closed loops of puts with 64, 256 and 1,024 callers; the best is the sustainable load. Then puts are
// offered at `times` that rate, on time whether or not earlier ones were answered (flood.h), each with `timeout_s` to be
// answered. Then, at once, the closed loop that was best, in slices of a tenth of a second: recovered is the end of the first
// slice that reaches nine tenths of the best.
//
// The offering thread shares the processors with the replicas, and making so many calls takes time whatever their outcome
// (offering_cores: the processors used by the offering thread, refusals included). So the best is measured
// twice, alone and beside the same flood into nothing: puts are made at the same rate, and refused by the bench itself. What
// goodput lacks compared with the first is the price of the flood; compared with the second, what this library adds to it.
//
//   sustainable_per_s, sustainable_beside_per_s, goodput_per_s (answered as done), of_sustainable, of_sustainable_beside,
//   offered_per_s, offering_cores, refused {reason: count}, put_p50_us, put_p99_us (of the successful ones),
//   worst_second_per_s, renewal_p99_ms_before / _during (at most twice the exact value), memory_mib_before / _peak (of the
//   process with the callers, which leads), changes_peak (of readable keys, of which the members keep 100,000),
//   recovered_ms, sessions, lost, errors: sessions that were lost, and puts without a known outcome.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/cluster/load.h"

namespace coordkit::bench {

// Uses these options: sessions, times, seconds, timeout_s.
nlohmann::ordered_json run_overload(Service& service, const LoadOptions& options);

}  // namespace coordkit::bench
