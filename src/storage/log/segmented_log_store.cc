#include "coordkit/storage/segmented_log_store.h"

#include "base/problems.h"
#include "coordkit/error.h"
#include "log/segment.h"
#include "storage/log/log_disk.h"
#include "storage/posix_file_system.h"

namespace coordkit {
namespace {

SegmentedLogStore::FileSystemFactory files_of(const DataDirectory& directory) {
  return [path = directory.log_path()]() -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    return storage::PosixFileSystem::open(path);
  };
}

}  // namespace

absl::Status SegmentedLogOptions::validate() const {
  Problems problems;
  const auto valid = [](uint64_t bytes) { return bytes % log::kBlockBytes == 0 && bytes >= 64 << 10 && bytes <= 1 << 30; };
  if (!valid(segment_bytes)) {
    problems.add("segment_bytes is not a multiple of 4096 between 64 KiB and 1 GiB");
  } else if (!valid(small_segment_bytes) || small_segment_bytes > segment_bytes) {
    problems.add("small_segment_bytes is not a multiple of 4096 between 64 KiB and segment_bytes");
  }
  if (batch_bytes_max == 0 || batch_bytes_max > 256 << 20) problems.add("batch_bytes_max is not between 1 byte and 256 MiB");
  if (idle_before_mark.count() < 0) problems.add("idle_before_mark is negative: give it zero or more");
  if (quick_sync.count() < 0) problems.add("quick_sync is negative: give it zero or more");
  return problems.status();
}

SegmentedLogStore::SegmentedLogStore(std::shared_ptr<DataDirectory> directory, SegmentedLogOptions options)
    : SegmentedLogStore(directory, files_of(*directory), options) {}

SegmentedLogStore::SegmentedLogStore(std::shared_ptr<DataDirectory> directory, FileSystemFactory files,
                                     SegmentedLogOptions options)
    : directory_(std::move(directory)),
      disk_(std::make_unique<Disk>(directory_->store(), directory_->boot(), std::move(files), options, directory_)) {}

SegmentedLogStore::SegmentedLogStore(StoreId store, BootCounter boot, FileSystemFactory files, SegmentedLogOptions options)
    : disk_(std::make_unique<Disk>(store, boot, std::move(files), options)) {}

SegmentedLogStore::~SegmentedLogStore() = default;

void SegmentedLogStore::checkpointed(Index applied) { disk_->checkpointed(applied); }
absl::StatusOr<RecoveredLog> SegmentedLogStore::open(LogSink& sink) { return disk_->open(sink); }
void SegmentedLogStore::submit(LogWrite write) { disk_->post(std::move(write)); }
bool SegmentedLogStore::defer(LogWrite write) { return disk_->defer(std::move(write)); }
void SegmentedLogStore::perform_deferred() { disk_->perform_deferred(); }
void SegmentedLogStore::read(Index first, Index last, size_t bytes_max) {
  disk_->post(Disk::Queue::Read{first, last, bytes_max});
}
void SegmentedLogStore::compact(Position through) { disk_->post(Disk::Queue::Compact{through}); }
void SegmentedLogStore::close() { disk_->close(); }
void SegmentedLogStore::scrub(Index from, std::function<void(LogScrub)> done) {
  disk_->post(Disk::Queue::Scrub{from, std::move(done)});
}
uint64_t SegmentedLogStore::bytes_written() const { return disk_->bytes_written(); }
uint64_t SegmentedLogStore::index_bytes() const { return disk_->index_bytes(); }
LogSpace SegmentedLogStore::space() const { return disk_->space(); }

}  // namespace coordkit
