// The log on disk: preallocated segments, one disk thread, one sync for all waiting writes (group
// commit). Recovery and the bytes: docs/format-log.md.
//
// Threads: one for the disk, one that prepares the next segment, both from open() to close().
// Lifetime: the sink must outlive close().
// Errors: the first failed write or sync is final, and reported once. Lack of space for the next
// segment is not final: writes wait until compaction or the operator frees some, and space() says
// so beforehand.
// Example: tests/unit/storage/segmented_log_store_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "coordkit/export.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/storage/data_directory.h"

namespace COORDKIT_EXPORT coordkit {

// How the files are laid out and written.
struct SegmentedLogOptions {
  // Size of a segment, 64 KiB to 1 GiB. Larger: rarer rolls. Smaller: space is freed sooner.
  uint64_t segment_bytes = 64 << 20;
  // Size of a segment made in haste, at open or when no prepared one is ready. It is zero-filled on
  // the spot, so keep it small.
  uint64_t small_segment_bytes = 1 << 20;
  // One batch and one sync take at most about this many bytes of waiting writes, so that the first
  // write is not held up.
  uint64_t batch_bytes_max = 4 << 20;
  // After this long without a write, a mark is written. It puts the last acknowledged batch below
  // the durable mark.
  std::chrono::milliseconds idle_before_mark{20};
  // One call of read() returns at most about this many bytes, because the disk thread answers it.
  uint64_t read_bytes_max = 1 << 20;
  // While syncs are no slower than this, a lent thread (LogStore::defer) does them: waking the disk
  // thread and being woken by it costs about as much as a quick sync. After a slower sync the disk
  // thread does them, until the disk was quick for a while. Zero: the disk thread always does them.
  std::chrono::microseconds quick_sync{2000};

  // OK or kInvalidArgument with a sentence that says what to change.
  absl::Status validate() const;
};

class SegmentedLogStore final : public LogStore {
 public:
  // The segments lie in DataDirectory::log_path(). open() checks `options`.
  explicit SegmentedLogStore(std::shared_ptr<DataDirectory> directory, SegmentedLogOptions options = {});

  // Uses another file system. `files` is called once for each of the two threads.
  using FileSystemFactory = std::function<absl::StatusOr<std::unique_ptr<FileSystem>>()>;
  // Segments without a data directory. `boot` must rise from one open to the next.
  SegmentedLogStore(StoreId store, BootCounter boot, FileSystemFactory files, SegmentedLogOptions options = {});
  // The segments lie in the directory, but the store reaches them through `files` alone.
  SegmentedLogStore(std::shared_ptr<DataDirectory> directory, FileSystemFactory files, SegmentedLogOptions options = {});
  ~SegmentedLogStore() override;

  void checkpointed(Index applied) override;
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override;
  void submit(LogWrite write) override;
  bool defer(LogWrite write) override;
  void perform_deferred() override;
  uint64_t bytes_written() const override;
  uint64_t index_bytes() const override;
  void read(Index first, Index last, size_t bytes_max) override;
  void compact(Position through) override;
  void close() override;  // finishes all submitted writes

  void scrub(Index from, std::function<void(LogScrub)> done) override;
  LogSpace space() const;  // from any thread

 private:
  class Disk;
  const std::shared_ptr<DataDirectory> directory_;
  const std::unique_ptr<Disk> disk_;
};

}  // namespace coordkit
