#include "coordkit/storage/lmdb_state_store.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.h"
#include "storage/lmdb_table.h"

namespace coordkit {

absl::Status LmdbStateOptions::validate() const {
  if (map_bytes < 1 << 20 || map_bytes > uint64_t{64} << 40) {
    return absl::InvalidArgumentError("map_bytes must be from 1 MiB to 64 TiB");
  }
  if (views_max == 0 || views_max > 10'000) return absl::InvalidArgumentError("views_max must be from 1 to 10000");
  return absl::OkStatus();
}

// The background thread: at most one batch waits, because at most one is under way.
class LmdbStateStore::Writer {
 public:
  Writer(std::shared_ptr<DataDirectory> directory, LmdbStateOptions options)
      : directory_(std::move(directory)), options_(options) {}
  ~Writer() { close(); }

  absl::StatusOr<Position> open(StateSink& sink) {
    if (absl::Status status = options_.validate(); !status.ok()) return status;
    if (table_) return absl::FailedPreconditionError("this state store was opened before; make a new one");
    absl::StatusOr<std::shared_ptr<storage::LmdbTable>> table = storage::LmdbTable::open({.path = directory_->state_path(),
                                                                                          .store = directory_->store(),
                                                                                          .map_bytes = options_.map_bytes,
                                                                                          .views_max = options_.views_max,
                                                                                          .keep_alive = directory_});
    if (!table.ok()) return table.status();
    table_ = *std::move(table);
    sink_ = &sink;
    thread_ = std::thread([this] { run(); });
    return table_->applied();
  }

  void commit(CheckpointBatch batch) {
    {
      std::scoped_lock lock(mutex_);
      if (closing_ || failed_) return;
      COORDKIT_CHECK_MSG(!waiting_, "a checkpoint was started before the one before was confirmed");
      waiting_ = std::move(batch);
    }
    wakes_.notify_one();
  }

  absl::StatusOr<std::unique_ptr<CheckpointView>> view() {
    if (!table_) return absl::FailedPreconditionError("the state store is not open");
    return table_->view();
  }

  void close() {
    {
      std::scoped_lock lock(mutex_);
      closing_ = true;
    }
    wakes_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    for (;;) {
      CheckpointBatch batch;
      {
        std::unique_lock lock(mutex_);
        wakes_.wait(lock, [this] { return closing_ || waiting_; });
        if (closing_) return;
        batch = *std::exchange(waiting_, std::nullopt);
      }
      if (absl::Status status = table_->write(batch); !status.ok()) {
        {
          std::scoped_lock lock(mutex_);
          failed_ = true;
        }
        sink_->checkpoint_failed(std::move(status));
        return;
      }
      sink_->checkpointed(batch.applied);
    }
  }

  const std::shared_ptr<DataDirectory> directory_;  // keeps the lock
  const LmdbStateOptions options_;
  std::shared_ptr<storage::LmdbTable> table_;
  StateSink* sink_ = nullptr;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::optional<CheckpointBatch> waiting_;
  bool closing_ = false;
  bool failed_ = false;
};

LmdbStateStore::LmdbStateStore(std::shared_ptr<DataDirectory> directory, LmdbStateOptions options)
    : writer_(std::make_unique<Writer>(std::move(directory), options)) {}
LmdbStateStore::~LmdbStateStore() = default;

absl::StatusOr<Position> LmdbStateStore::open(StateSink& sink) { return writer_->open(sink); }
void LmdbStateStore::commit(CheckpointBatch batch) { writer_->commit(std::move(batch)); }
absl::StatusOr<std::unique_ptr<CheckpointView>> LmdbStateStore::view() { return writer_->view(); }
void LmdbStateStore::close() { writer_->close(); }

}  // namespace coordkit
