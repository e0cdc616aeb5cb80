// Reads entries that were evicted from memory back from the log store, for peers and for apply. A failed or invalid read
// never causes anything to be sent, applied or truncated (regression R27). It is retried later.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "raft/log/raft_log.h"

namespace coordkit::raft {

class LogReader {
 public:
  explicit LogReader(const Options& options) : options_(options) {}

  void request(Index first, Index last, size_t bytes_max, LaggingTime now);
  std::vector<ReadRequest>& requests() { return requests_; }  // for the next drain
  // Whether this was requested and matches the log.
  bool accepts(const LogRead& read, const Log& log, LaggingTime now);
  void keep_for_apply(LogRead& read);

  // Committed entries from `first` on, from memory or from a finished read. Empty: they were requested.
  std::span<const Entry> committed(Index first, size_t bytes_max, const Log& log, LaggingTime now);

  void compacted(Index through);
  void clear();  // the log was replaced

 private:
  struct Read {
    Index first;
    std::optional<LaggingTime> failed;  // retried a heartbeat interval after this
  };
  bool intact(Index asked, const std::vector<Entry>& entries, const Log& log) const;

  const Options& options_;
  std::vector<Read> reads_;          // in progress or failed recently
  std::vector<Entry> apply_window_;  // read back for apply
  std::optional<Index> apply_wants_;
  std::vector<ReadRequest> requests_;
};

}  // namespace coordkit::raft
