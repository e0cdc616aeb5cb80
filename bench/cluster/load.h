// The loads, run inside one replica's process against that service.
//
//   lock      every caller acquires and releases its own lock; one cycle is both, one after the other: two durable commits
//   unwaited  the same, but the release is only posted: a cycle is one acquire, which carries it: one durable commit
//   handoff   all callers want one lock; one cycle is one hand-off, from the call of release to the moment the next caller
//             knows that it holds the lock: one durable commit
//   read90    all callers want one lock, 90 of 100 times shared, and release it at once; a cycle is acquire, queue and release
//   read50    the same with 50 of 100
//   sticky    every caller is a thread with a lock of its own that its session keeps (sticky_load.h): no commit
//   put, txn, read, local, watch: of the revisioned store (kv_load.h, watch_load.h)
//   renewals  of many sessions (renewals_load.h)
//   overload  far more puts than can be done (overload.h)
//
// Where the callers are: "embedded" drives all of them by callbacks of the async calls, on the engine's own thread, as an
// event-driven service would; "blocking" gives each a thread that uses the blocking calls; "follower" is embedded in a replica
// that does not lead, "remote" in a process without a replica, whose gateway does not lead. The others are in the leader's
// process.
//
// With a rate, operations of the kinds that can be paced are due on time, whatever is answered (load_loop.h); `callers` is how
// many may be in progress at once.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/replica.h"

namespace coordkit::bench {

struct Kind {
  std::string_view name;
  std::string_view suite = "lock";
  bool one_lock = false;  // all callers want the same
  bool waits = true;      // for the answer of the release
  bool cycle_is_handoff = false;
  bool paced = false;  // can be offered at a rate
  uint32_t read_percent = 0;
  // The number of disk syncs that a cycle waits for one after the other, whatever else is shared; 0: depends on the others.
  uint32_t syncs = 0;
};
inline constexpr std::array kKinds = {Kind{.name = "lock", .paced = true, .syncs = 2},
                                      Kind{.name = "unwaited", .waits = false, .paced = true, .syncs = 1},
                                      Kind{.name = "handoff", .one_lock = true, .cycle_is_handoff = true, .syncs = 1},
                                      Kind{.name = "read90", .one_lock = true, .read_percent = 90},
                                      Kind{.name = "read50", .one_lock = true, .read_percent = 50},
                                      Kind{.name = "sticky"},
                                      Kind{.name = "put", .suite = "kv", .paced = true, .syncs = 1},
                                      Kind{.name = "txn", .suite = "kv", .paced = true, .syncs = 1},
                                      Kind{.name = "read", .suite = "kv", .paced = true},
                                      Kind{.name = "local", .suite = "kv", .paced = true},
                                      Kind{.name = "renewals", .suite = "renewals"},
                                      Kind{.name = "watch", .suite = "watch", .syncs = 1},
                                      Kind{.name = "overload", .suite = "overload"}};
const Kind& kind_of(std::string_view name);  // throws std::out_of_range
std::vector<std::string> kinds_of(std::string_view suite);

struct LoadOptions {
  std::string kind;
  std::string where;  // embedded, blocking, follower, remote
  size_t callers = 1;
  double per_s = 0;  // that are due; 0: closed loops
  double warmup_s = 1;
  double seconds = 5;
  size_t watchers = 10'000;        // for the kind watch
  size_t sessions = 1000;          // for the kind overload
  double times = 10;               // for overload: the offered rate, in sustainable loads
  double timeout_s = 10;           // for overload: how long a put may take
  std::string security = "plain";  // between the replicas: plain, secret, tls
};

void to_json(nlohmann::json& json, const LoadOptions& options);
void from_json(const nlohmann::json& json, LoadOptions& options);

// cycles_per_s, the percentiles (report/percentiles.h), errors (failed calls; two holders at once) and, if there were any, the
// first one.
nlohmann::ordered_json run_load(Service& service, const LoadOptions& options);

}  // namespace coordkit::bench
