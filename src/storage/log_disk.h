// The two threads of the segmented log store, and the one that may be lent to it. The disk thread takes everything queued,
// writes and syncs it as one batch, and reports. The preparer makes the next segment beside it, in small synced pieces, so that
// the commit path never waits for a large fill. While the disk is fast, a lent thread does the writes and the disk thread
// sleeps. Only one of the two uses the log at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "coordkit/storage/segmented_log_store.h"
#include "log/log.h"
#include "storage/sync_pace.h"

namespace coordkit {

class SegmentedLogStore::Disk {
 public:
  Disk(StoreId store, BootCounter boot, FileSystemFactory files, SegmentedLogOptions options,
       std::shared_ptr<DataDirectory> directory = nullptr);
  ~Disk() { close(); }

  void checkpointed(Index applied) { checkpointed_ = applied; }
  absl::StatusOr<RecoveredLog> open(LogSink& sink);
  void close();

  struct Read {
    Index first;
    Index last;
    size_t bytes_max = 0;
  };
  struct Compact {
    Position through;
  };
  struct Scrub {
    Index from;
    std::function<void(LogScrub)> done;
  };
  struct SpareReady {
    uint32_t number = 0;
    uint64_t capacity = 0;
  };
  struct SpareFailed {
    absl::Status why;
  };
  using Task = std::variant<LogWrite, Read, Compact, Scrub, SpareReady, SpareFailed>;
  void post(Task task);
  bool defer(LogWrite write);
  void perform_deferred();

  LogSpace space() const { return space_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  struct SpareOrder {
    uint32_t number = 0;
    uint64_t capacity = 0;
  };

  // The disk thread.
  void run();
  bool wait();  // for work, or for the time of a mark; false: closing and nothing left
  std::optional<Clock::time_point> due() const;

  // The thread that is working.
  enum class Worker : uint8_t { None, DiskThread, LentThread };
  void work();
  void perform_all();
  void perform(Task task);
  absl::Status write_batch();
  void stall();
  void write_mark();
  void report(LogSpace space);
  absl::Status note_log();
  void order_spare();
  void fail(absl::Status why);
  static void drop(const Task& task);

  // The preparer.
  void prepare();
  absl::StatusOr<bool> make_spare(const SpareOrder& order);

  const StoreId store_;
  const BootCounter boot_;
  const FileSystemFactory files_factory_;
  const SegmentedLogOptions options_;
  const std::shared_ptr<DataDirectory> directory_;  // null: the existence of the log is not recorded
  Index checkpointed_;

  LogSink* sink_ = nullptr;
  std::thread disk_thread_;
  std::thread preparer_thread_;
  std::atomic<LogSpace> space_{LogSpace::Ample};

  std::mutex mutex_;
  std::condition_variable disk_wakes_;
  std::condition_variable preparer_wakes_;
  std::deque<Task> waiting_;
  std::optional<SpareOrder> order_;  // for the preparer
  bool closing_ = false;
  bool stop_preparer_ = false;
  bool final_ = false;  // failed: nothing more is accepted
  Worker worker_ = Worker::DiskThread;
  bool deferred_ = false;        // a single write is queued and waits for perform_deferred()
  bool sleeps_untimed_ = false;  // the disk thread, until it is woken

  // Used by the worker only.
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<log::Log> log_;
  std::deque<Task> tasks_;       // taken over from waiting_
  std::vector<LogWrite> batch_;  // being gathered
  size_t batch_bytes_ = 0;
  bool stalled_ = false;  // no space: batch_ waits
  Clock::time_point stalled_at_;
  bool mark_wanted_ = false;
  bool ordered_ = false;
  Clock::time_point last_write_;
  SyncPace pace_;
  bool noted_ = false;

  std::unique_ptr<FileSystem> preparer_files_;
};

}  // namespace coordkit
