// Entries that left memory, read back from the log store for peers and for apply. A failed or unsound read never leads to
// anything being sent, applied or truncated (regression R27): it is tried again later.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "raft/log.h"

namespace coordkit::raft {

class LogReader {
 public:
  explicit LogReader(const Options& options) : options_(options) {}

  void request(Index first, Index last, size_t bytes_max, LaggingTime now);
  std::vector<ReadRequest>& requests() { return requests_; }  // for the next drain
  // Whether this was asked for and is what the log says.
  bool accepts(const LogRead& read, const Log& log, LaggingTime now);
  void keep_for_apply(LogRead& read);

  // Committed entries from `first` on, from memory or from what was read back; empty: asked for.
  std::span<const Entry> committed(Index first, size_t bytes_max, const Log& log, LaggingTime now);

  void compacted(Index through);
  void clear();  // another log

 private:
  friend class CoreTwin;
  struct Read {
    Index first;
    std::optional<LaggingTime> failed;  // tried again a heartbeat interval after this
  };
  bool intact(Index asked, const std::vector<Entry>& entries, const Log& log) const;

  const Options& options_;
  std::vector<Read> reads_;          // under way or failed lately
  std::vector<Entry> apply_window_;  // read back for apply
  std::optional<Index> apply_wants_;
  std::vector<ReadRequest> requests_;
};

}  // namespace coordkit::raft
