// The inside of a segmented log store: its thread takes everything queued (log_queue.h), writes and syncs it as one batch
// (log_writer.h), and reports. Another makes the next segment beside it (spare_preparer.h). While the disk is quick, a lent
// thread does the writes and the store's own sleeps.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/thread.h"
#include "coordkit/export.h"
#include "coordkit/storage/segmented_log_store.h"
#include "log/log.h"
#include "storage/log/log_queue.h"
#include "storage/log/log_writer.h"
#include "storage/log/spare_preparer.h"
#include "storage/space_report.h"

namespace coordkit {

class COORDKIT_HIDDEN SegmentedLogStore::Disk {
 public:
  using Queue = storage::LogQueue;

  Disk(StoreId store, BootCounter boot, FileSystemFactory files, SegmentedLogOptions options,
       std::shared_ptr<DataDirectory> directory = nullptr);
  ~Disk() { close(); }

  void checkpointed(Index applied) { checkpointed_ = applied; }
  absl::StatusOr<RecoveredLog> open(LogSink& sink);
  void close();

  void post(Queue::Task&& task) { queue_.post(std::move(task)); }
  bool defer(LogWrite write);
  void perform_deferred();

  uint64_t bytes_written() const { return writer_.bytes_written(); }
  uint64_t index_bytes() const { return writer_.index_bytes(); }
  LogSpace space() const { return space_.now(); }

 private:
  void run();  // the store's own thread

  // The thread that is working.
  Queue::Rest rest() const;
  void work() noexcept;
  bool next() noexcept;  // false: it is over
  void last_mark() noexcept;
  void perform_all();
  void perform(Queue::Task task);
  absl::StatusOr<std::vector<raft::Entry>> read_log(const Queue::Read& read);
  bool write_batch();  // false: there is no room, or it failed
  void take_spare(const Queue::SpareMade& made);
  void spare_fails(const absl::Status& why);
  void compact_log(const Queue::Compact& compact);
  void stall();
  void write_mark();
  void report_wait(absl::Status why);  // for something other than room; OK: no more
  void order_spare();
  void look_for_files();
  void fail(absl::Status why) noexcept;

  const StoreId store_;
  const BootCounter boot_;
  const FileSystemFactory files_factory_;
  const SegmentedLogOptions options_;
  const std::shared_ptr<DataDirectory> directory_;  // null: the existence of the log is not recorded
  Index checkpointed_;
  LogSink* sink_ = nullptr;
  storage::SpaceReport space_;
  std::atomic<bool> spare_fails_{false};  // as reported
  Queue queue_;
  storage::SparePreparer preparer_;
  Thread thread_;

  // Used by the thread that is working only.
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<log::Log> log_;
  storage::LogWriter writer_;
  absl::Status waits_;                  // as reported
  Queue::Clock::time_point look_at_{};  // for the files
  Queue::Tasks tasks_;                  // taken over from the queue
};

}  // namespace coordkit
