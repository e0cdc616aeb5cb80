// Metrics in the Prometheus text format: https://prometheus.io/docs/instrumenting/exposition_formats/.
#include <charconv>
#include <initializer_list>

#include "coordkit/operate/metrics.h"

namespace coordkit {
namespace {

std::string seconds(Duration duration) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, std::chrono::duration<double>(duration).count());
  return {digits, end.ptr};
}

class Page {
 public:
  explicit Page(std::string_view labels) : labels_(labels) {}

  void counter(std::string_view name, std::string_view help, uint64_t value) { number(name, "counter", help, value); }
  void gauge(std::string_view name, std::string_view help, uint64_t value) { number(name, "gauge", help, value); }
  void age(Duration age) {
    head("metrics_age_seconds", "gauge", "How old all of this is; above a second, a callback blocks the engine's thread.");
    sample("metrics_age_seconds", "", seconds(age));
  }
  void histogram(std::string_view name, std::string_view help, const WaitTimes& times) {
    head(name, "histogram", help);
    const std::string bucket = std::string(name) + "_bucket";
    uint64_t below = 0;
    for (size_t i = 0; i + 1 < kBuckets; ++i) {
      below += times.buckets()[i];
      sample(bucket, "le=\"" + seconds(WaitTimes::upper(i)) + "\"", std::to_string(below));
    }
    sample(bucket, "le=\"+Inf\"", std::to_string(times.count()));
    sample(std::string(name) + "_sum", "", seconds(times.total()));
    sample(std::string(name) + "_count", "", std::to_string(times.count()));
  }
  void family(std::string_view name, std::string_view help) { head(name, "counter", help); }
  void sample(std::string_view name, std::string_view own_labels, std::string_view value) {
    text_.append("coordkit_").append(name);
    if (!labels_.empty() || !own_labels.empty()) {
      text_.append("{").append(labels_).append(labels_.empty() || own_labels.empty() ? "" : ",").append(own_labels).append("}");
    }
    text_.append(" ").append(value).append("\n");
  }
  std::string text() && { return std::move(text_); }

 private:
  static constexpr size_t kBuckets = 28;  // up to 67 s; longer ones are only in +Inf

  void number(std::string_view name, std::string_view type, std::string_view help, uint64_t value) {
    head(name, type, help);
    sample(name, "", std::to_string(value));
  }
  void head(std::string_view name, std::string_view type, std::string_view help) {
    text_.append("# HELP coordkit_").append(name).append(" ").append(help).append("\n");
    text_.append("# TYPE coordkit_").append(name).append(" ").append(type).append("\n");
  }

  const std::string_view labels_;
  std::string text_;
};

void write(Page& page, const TurnMetrics& turns) {
  page.counter("turns_total", "Turns of the engine.", turns.turns);
  page.counter("arrivals_total", "Messages, calls and reports that turns have taken.", turns.arrivals);
  page.histogram("turn_seconds", "How long a turn took with all that it set off on its thread.", turns.took);
  page.gauge("arrivals_waiting", "Arrivals that the next turn takes.", turns.waiting);
  page.gauge("arrivals_waiting_bytes", "Bytes of the messages among them.", turns.waiting_bytes);
  page.counter("messages_lost_total", "Messages dropped because too many bytes were waiting.", turns.messages_lost);
}

void write(Page& page, const LogMetrics& log) {
  page.counter("log_writes_total", "Writes handed to the log store.", log.writes);
  page.counter("log_entries_total", "Entries in these writes.", log.entries);
  page.counter("log_bytes_total", "Bytes of the commands in these entries.", log.bytes);
  page.counter("log_written_bytes_total", "Bytes that the log store has written to its files.", log.written_bytes);
  page.counter("log_reports_total", "Reports of the log store that writes are durable.", log.reports);
  page.histogram("log_durable_seconds", "From the write to the news that it is durable.", log.durable);
  page.gauge("log_writes_waiting", "Writes that are not durable.", log.waiting);
}

void write(Page& page, const StateMetrics& state) {
  page.counter("checkpoints_total", "Checkpoints that are durable.", state.checkpoints);
  page.counter("checkpoint_rows_total", "Rows handed over for checkpoints.", state.rows);
  page.counter("checkpoint_bytes_total", "Bytes of these rows.", state.bytes);
  page.histogram("checkpoint_seconds", "From a checkpoint's start to the news that it is durable.", state.durable);
  page.counter("states_restored_total", "Times that a peer's whole state took the place of the own one.", state.restored);
}

void write(Page& page, const TcpCounters& tcp) {
  page.counter("connections_opened_total", "Connections whose hellos were verified.", tcp.opened);
  page.family("connections_closed_total", "Connections that ended, by reason.");
  for (size_t i = 1; i < tcp.closed.size(); ++i) {
    const std::string label = "reason=\"" + std::string(name_of(static_cast<CloseReason>(i))) + "\"";
    page.sample("connections_closed_total", label, std::to_string(tcp.closed[i]));
  }
  page.counter("frames_dropped_control_total", "Control frames that were dropped before they were sent.", tcp.control_dropped);
  page.counter("frames_dropped_bulk_total", "Frames of bulk that were dropped before they were sent.", tcp.bulk_dropped);
}

void write(Page& page, const PeerMetrics& peers) {
  page.counter("messages_sent_total", "Messages to peers.", peers.messages_sent);
  page.counter("message_bytes_sent_total", "Bytes of these messages.", peers.bytes_sent);
  page.counter("messages_received_total", "Messages from peers.", peers.messages_received);
  page.counter("message_bytes_received_total", "Bytes of all that was received as a message.", peers.bytes_received);
  page.counter("messages_malformed_total", "Received frames that are not a message.", peers.malformed);
  page.counter("messages_rejected_total", "Messages from a sender that may not send them.", peers.rejected);
  if (peers.tcp) write(page, *peers.tcp);
}

void write(Page& page, const RemoteMetrics& remotes) {
  page.gauge("remotes_linked", "Processes without a replica whose gateway this replica is.", remotes.linked);
  page.family("remote_messages_dropped_total", "Messages of remotes that were dropped, by reason.");
  const auto dropped = [&](std::string_view reason, uint64_t count) {
    page.sample("remote_messages_dropped_total", "reason=\"" + std::string(reason) + "\"", std::to_string(count));
  };
  dropped("malformed", remotes.malformed);
  dropped("foreign", remotes.foreign);
  dropped("invalid", remotes.invalid);
  dropped("disagreeing", remotes.disagreeing);
  dropped("beyond", remotes.beyond);
  page.counter("remote_connections_opened_total", "Connections of remotes whose hellos were verified.", remotes.tcp.opened);
  page.family("remote_connections_closed_total", "Connections of remotes that ended, by reason.");
  for (size_t i = 1; i < remotes.tcp.closed.size(); ++i) {
    const std::string label = "reason=\"" + std::string(name_of(static_cast<CloseReason>(i))) + "\"";
    page.sample("remote_connections_closed_total", label, std::to_string(remotes.tcp.closed[i]));
  }
}

void write(Page& page, const ConsensusMetrics& consensus) {
  page.counter("leaders_total", "Changes of leader that were seen here.", consensus.leaders);
  page.counter("elections_won_total", "Elections that this replica has won.", consensus.won);
  page.gauge("term", "The term of this replica.", consensus.term.value());
  page.gauge("leads", "1 on the leader.", consensus.leads ? 1 : 0);
  page.gauge("commit_index", "The last entry known to be committed.", consensus.commit.value());
  page.gauge("applied_index", "The last entry that was applied.", consensus.applied.value());
  page.gauge("durable_index", "The last entry that is durable here.", consensus.durable.value());
}

void write(Page& page, const CommandStatistics& commands) {
  page.counter("commands_total", "Commands that callers here put into the log.", commands.submitted);
  page.counter("commands_refused_total", "Commands that were refused or had no answer in time.", commands.refused);
  page.histogram("command_seconds", "From a command's submission to its answer, of answered commands.", commands.latency);
}

void write(Page& page, const LockStatistics& locks) {
  page.counter("lock_grants_total", "Acquires that were granted.", locks.grants);
  page.counter("lock_local_grants_total", "Acquires that were granted without a log entry.", locks.local_grants);
  page.counter("lock_waits_total", "Acquires that had to wait.", locks.waits);
  page.counter("lock_timeouts_total", "Acquires whose time to wait was over first.", locks.timeouts);
  page.counter("lock_refusals_total", "Acquires that would not wait.", locks.refusals);
  page.counter("lock_deadlocks_total", "Acquires that would have closed a circle.", locks.deadlocks);
  page.counter("session_expiries_total", "Sessions of all callers that expired.", locks.expiries);
  page.histogram("lock_wait_seconds", "From the call to the grant, of acquires that had to wait.", locks.wait_times);
}

void write(Page& page, const RenewalStatistics& renewals) {
  page.counter("renewals_total", "Renewals of sessions sent by this process.", renewals.sent);
  page.histogram("renewal_seconds", "From a renewal to its first answer.", renewals.answered);
}

void write(Page& page, const MemoryMetrics& memory) {
  page.gauge("log_cached_bytes", "Memory that the log takes: the entries of its end, and where all of them lie.",
             memory.log_bytes);
  page.gauge("request_bytes", "Requests of callers here that are under way.", memory.request_bytes);
  const Contents& contents = memory.contents;
  page.gauge("sessions", "Sessions in the replicated state.", contents.sessions);
  page.gauge("leases", "Leases of keys in the replicated state.", contents.leases);
  page.gauge("locks", "Names of locks that are held or waited for.", contents.locks);
  page.gauge("lock_claims", "Holds of locks and waits for them.", contents.claims);
  page.gauge("objects", "Records of semaphores, barriers and the like.", contents.objects);
  page.gauge("keys", "Keys that exist.", contents.keys);
  page.gauge("key_changes", "Changes of keys that can still be read.", contents.changes);
  page.gauge("key_weight_bytes", "Size of these changes, as a quota counts it.", contents.key_weight);
}

}  // namespace

std::string prometheus_text(const Metrics& metrics, std::string_view labels) {
  Page page(labels);
  write(page, metrics.turns);
  write(page, metrics.log);
  write(page, metrics.state);
  write(page, metrics.peers);
  if (metrics.remotes) write(page, *metrics.remotes);
  write(page, metrics.consensus);
  write(page, metrics.commands);
  write(page, metrics.locks);
  write(page, metrics.renewals);
  write(page, metrics.memory);
  page.age(metrics.age);
  return std::move(page).text();
}

}  // namespace coordkit
