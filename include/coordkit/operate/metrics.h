// The activity of one replica since it was opened, as plain numbers for charts and alarms:
// Service::metrics().
//
// Counters only grow. Present values are marked "now". All numbers belong to this process: no other
// process is asked, and nothing is kept per name. The comment beside a time says what it measures;
// all times come from the replica's clock. Metrics are always on: a turn pays a few additions for
// them. A useful alarm: the 99th percentile of log.durable above a tenth of the election timeout.
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

// The turns of the engine, each of which takes everything that has arrived.
struct TurnMetrics {
  uint64_t turns = 0;          // of the engine since it was opened
  uint64_t arrivals = 0;       // messages, calls and reports of stores and transport
  WaitTimes took;              // a turn with all its work on the engine's thread
  size_t waiting = 0;          // now: arrivals that the next turn takes
  size_t waiting_bytes = 0;    // now: of the messages among them
  uint64_t messages_lost = 0;  // from peers, because too many bytes were waiting
};

// The writes of the replicated log.
struct LogMetrics {
  uint64_t writes = 0;         // handed to the log store
  uint64_t entries = 0;        // in them
  uint64_t bytes = 0;          // of the entries' commands
  uint64_t written_bytes = 0;  // to the store's files, headers and padding included; 0: the store
                               // does not count
  uint64_t reports = 0;        // from the store that writes are durable; each may cover many
                               // writes: one sync
  WaitTimes durable;           // of each write, until it was reported to the engine
  size_t waiting = 0;          // now: writes that are not durable
};

// The checkpoints of the applied state.
struct StateMetrics {
  uint64_t checkpoints = 0;  // that are durable
  uint64_t rows = 0;         // handed over for them
  uint64_t bytes = 0;        // of these rows
  WaitTimes durable;         // of each checkpoint
  uint64_t restored = 0;     // times that a peer's whole state replaced this replica's own
};

// Messages to and from peers, as the engine's host counts them.
struct PeerMetrics {
  uint64_t messages_sent = 0,      // to peers
      bytes_sent = 0;              // of their bodies
  uint64_t messages_received = 0,  // from peers, well-formed
      bytes_received = 0;          // of all bodies, malformed ones included
  uint64_t malformed = 0;          // received, but not a valid message
  uint64_t rejected = 0;           // received from a sender that may not send this (decisions/0018)
  // Counters of the built-in TCP transport; absent with another transport.
  std::optional<TcpCounters> tcp = {};
};

// The remotes that this replica serves, as their gateway.
struct RemoteMetrics {
  size_t linked = 0;  // now: remotes
  // Messages of remotes that were dropped:
  uint64_t malformed = 0;    // not a message of this protocol
  uint64_t foreign = 0;      // in the name of another remote, or of a member
  uint64_t invalid = 0;      // a command that is refused as malformed
  uint64_t disagreeing = 0;  // the first one of a remote with another rate_error_ppm or version
  uint64_t beyond = 0;       // above a limit for one remote
  TcpCounters tcp;           // of their connections
};

// The protocol as this replica sees it.
struct ConsensusMetrics {
  uint64_t leaders = 0;  // changes of leader that this replica has seen
  uint64_t won = 0;      // of these, this replica's own elections
  // Now:
  Term term = {};
  bool leads = false;  // whether this replica leads
  Index commit = {},   // the newest entry that is known to be committed
      applied = {},    // the state after this entry is in force here
      durable = {};    // this replica's own log is synced up to it
};

// The memory of this process now, except its share of the state (Contents).
struct MemoryMetrics {
  uint64_t log_bytes = 0;      // entries at the log's end that peers may still need, and the places
                               // of all its entries
  uint64_t request_bytes = 0;  // of this replica's callers, in progress
  Contents contents;           // of the replicated state
};

struct Metrics {
  TurnMetrics turns;                          // of the engine's thread
  LogMetrics log;                             // of this replica's own log
  StateMetrics state;                         // of this replica's own checkpoints
  PeerMetrics peers;                          // to and from this replica
  std::optional<RemoteMetrics> remotes = {};  // absent: ReplicaOptions::remotes is off
  ConsensusMetrics consensus;                 // in this replica's view
  CommandStatistics commands;                 // of this replica's callers
  LockStatistics locks;                       // of the same
  RenewalStatistics renewals;                 // of the same
  // For this process.
  MemoryMetrics memory;
  Duration age{};  // how old all of this is; more than a moment only while the engine's thread is
                   // held up: Health::age
};

// The text that Prometheus scrapes (version 0.0.4). Names begin with coordkit_, times are in
// seconds, and each sample contains `labels` unchanged: `cluster="shop",replica="1"`.
std::string prometheus_text(const Metrics& metrics, std::string_view labels = {});

}  // namespace coordkit
