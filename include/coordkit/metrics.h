// What one replica has done and met with since it was opened, as plain numbers for charts and alarms: Replica::metrics().
//
// Counters only grow, but for those of the present, which say so. All of this process: nothing is asked of others, and nothing
// is kept per name. What a time means stands beside it; all are taken from the replica's clock. Always on: a turn pays a few
// additions for it. Example of an alarm: the 99th percentile of log.durable above a tenth of the election timeout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coordkit/client/statistics.h"
#include "coordkit/export.h"
#include "coordkit/records.h"
#include "coordkit/transport/tcp_transport.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct TurnMetrics {
  uint64_t turns = 0;
  uint64_t arrivals = 0;  // messages, calls and reports of stores and transport
  WaitTimes took;         // a turn with all that it set off on the engine's thread
  size_t waiting = 0;     // now: arrivals that the next turn takes
  size_t waiting_bytes = 0;
  uint64_t messages_lost = 0;  // from peers, because too many bytes were waiting
};

struct LogMetrics {
  uint64_t writes = 0;         // handed to the log store
  uint64_t entries = 0;        // in them
  uint64_t bytes = 0;          // of the entries' commands
  uint64_t written_bytes = 0;  // to the store's files, headers and padding included; 0: the store does not count
  uint64_t reports = 0;        // of the store that writes are durable; each may answer many writes: one sync
  WaitTimes durable;           // of each write, until it was reported to the engine
  size_t waiting = 0;          // now: writes that are not durable
};

struct StateMetrics {
  uint64_t checkpoints = 0;  // that are durable
  uint64_t rows = 0;         // handed over for them
  uint64_t bytes = 0;        // of these rows
  WaitTimes durable;         // of each checkpoint
  uint64_t restored = 0;     // times that a peer's whole state took the place of the own one
};

struct PeerMetrics {
  uint64_t messages_sent = 0, bytes_sent = 0;
  uint64_t messages_received = 0, bytes_received = 0;
  uint64_t malformed = 0;  // received, and no message
  uint64_t rejected = 0;   // received from a sender that may not say such a thing (decisions/0018)
  // Counters of the built-in TCP transport; absent with another one.
  std::optional<TcpCounters> tcp = {};
};

struct ConsensusMetrics {
  uint64_t leaders = 0;  // changes of leader that this replica has seen
  uint64_t won = 0;      // of these, elections of itself
  // Now:
  Term term = {};
  bool leads = false;
  Index commit = {}, applied = {}, durable = {};
};

// What this process keeps in memory, now, beside its share of the state (Contents).
struct MemoryMetrics {
  uint64_t log_bytes = 0;      // entries of the log's end that peers may still want, and where all of its entries lie
  uint64_t request_bytes = 0;  // of this replica's callers, under way
  Contents contents;           // of the replicated state
};

struct Metrics {
  TurnMetrics turns;
  LogMetrics log;
  StateMetrics state;
  PeerMetrics peers;
  ConsensusMetrics consensus;
  CommandStatistics commands;  // of this replica's callers
  LockStatistics locks;        // of the same
  RenewalStatistics renewals;  // of the same
  MemoryMetrics memory;
  Duration age{};  // how old all of this is; more than a moment only while the engine's thread is held up: Health::age
};

// The text that Prometheus scrapes (version 0.0.4): names begin with coordkit_, times are in seconds, and `labels` stand in
// each sample as they are: `cluster="shop",replica="1"`.
std::string prometheus_text(const Metrics& metrics, std::string_view labels = {});

}  // namespace coordkit
