// Gathers writes to a log and makes them durable, one sync for a batch. A batch for which no segment can be made, for lack of
// room or of descriptors or because its file has an error, stays until it is tried again. Knows when a mark is to follow, and
// whether the disk is quick.
//
// Threads: the one that uses the log.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "base/last_words.h"
#include "coordkit/storage/segmented_log_store.h"
#include "log/log.h"
#include "storage/log/sync_pace.h"

namespace coordkit::storage {

class LogWriter {
 public:
  using Clock = std::chrono::steady_clock;

  // `directory`: null: the existence of the log is not recorded. Both outlive this.
  LogWriter(const SegmentedLogOptions& options, const DataDirectory* directory);

  void add(LogWrite write);
  bool empty() const { return batch_.empty(); }
  bool full() const { return bytes_ >= options_.batch_bytes_max; }

  // Writes and syncs what was added, and returns the number of the last write. An error with stalled(): it waits, as the
  // error says, for a segment.
  absl::StatusOr<WriteNumber> write(log::Log& log);
  // OK without one if that waits: the previous batch is safe, only the mark waits.
  absl::Status write_mark(log::Log& log);

  // After the open; writes do so themselves.
  void note_sizes(const log::Log& log);
  // For the thread that uses the log, when it meets an exception that no step expected.
  const LastWords& last_words() const { return last_words_; }
  // On any thread, as noted last.
  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  uint64_t index_bytes() const { return index_bytes_.load(std::memory_order_relaxed); }
  bool stalled() const { return stalled_at_.has_value(); }
  // When to try again, or to write a mark; nullopt: neither.
  std::optional<Clock::time_point> due(const log::Log& log) const;
  // A thread that has other things to do may do the next write.
  bool quick() const { return !stalled() && noted_ && pace_.quick(); }

 private:
  absl::Status note_log(const log::Log& log);

  const SegmentedLogOptions& options_;
  const LastWords last_words_;
  const DataDirectory* const directory_;
  std::vector<LogWrite> batch_;  // being gathered
  size_t bytes_ = 0;             // of it
  std::optional<Clock::time_point> stalled_at_;
  Clock::time_point last_write_;
  SyncPace pace_;
  std::atomic<uint64_t> bytes_written_{0};
  std::atomic<uint64_t> index_bytes_{0};
  bool noted_;  // the directory knows that there is a log
};

}  // namespace coordkit::storage
