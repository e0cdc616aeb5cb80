// The suite "takeover": what a new leader does with existing sessions, for a few sessions and for a million, each with a
// lock (16-byte name, no metadata). One machine and one timer keeper in this process, no network and no disk: an election
// itself is the same whatever the state holds, so only this could be slower.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

namespace coordkit::bench {

// sessions; bytes of the machine, and of the leader's timers, for each session and its lock; takeover_us: lead() and the first
// hundred turns, each with a renewal of all three processes; timers_looked_at during these.
nlohmann::ordered_json run_takeover(uint64_t sessions);

}  // namespace coordkit::bench
