#include "coordkit/storage/lmdb_state_store.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/row_map.h"
#include "base/row_sums.h"
#include "storage/lmdb_table.h"

namespace coordkit {

absl::Status LmdbStateOptions::validate() const {
  if (map_bytes < 1 << 20 || map_bytes > uint64_t{64} << 40) {
    return absl::InvalidArgumentError("map_bytes must be from 1 MiB to 64 TiB");
  }
  if (views_max == 0 || views_max > 10'000) return absl::InvalidArgumentError("views_max must be from 1 to 10000");
  return absl::OkStatus();
}

// The background thread and what waits for it.
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

  void start(StateOperation operation) {
    {
      std::scoped_lock lock(mutex_);
      if (closing_ || failed_) return;
      waiting_.push_back(std::move(operation));
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
      StateOperation operation;
      {
        std::unique_lock lock(mutex_);
        wakes_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
        if (closing_) return;
        operation = std::move(waiting_.front());
        waiting_.pop_front();
      }
      absl::Status status = std::visit([this](auto& one) { return perform(one); }, operation);
      if (status.ok()) continue;
      {
        std::scoped_lock lock(mutex_);
        failed_ = true;
      }
      sink_->checkpoint_failed(std::move(status));
      return;
    }
  }

  absl::Status perform(const CheckpointBatch& batch) {
    if (absl::Status status = table_->write(batch); !status.ok()) return status;
    sink_->checkpointed(batch.applied);
    return absl::OkStatus();
  }

  absl::Status perform(StageRows& stage) {
    const auto end = stage.range.upto.empty() ? staged_.end() : staged_.upper_bound(stage.range.upto);
    staged_.erase(staged_.upper_bound(stage.range.after), end);
    for (CheckpointBatch::Row& row : stage.rows) staged_.emplace(std::move(row.key), *std::move(row.value));
    sink_->staged(stage.ticket);
    return absl::OkStatus();
  }

  absl::Status perform(const InstallStaged& install) {
    const RowsByKey staged = std::exchange(staged_, {});
    if (digest_of(staged) != install.digest) {
      sink_->install_refused(install.applied,
                             absl::DataLossError("the staged rows are not those of the digest; fetch them again"));
      return absl::OkStatus();
    }
    if (absl::Status status = table_->install(install.applied, staged); !status.ok()) return status;
    sink_->installed(install.applied);
    return absl::OkStatus();
  }

  absl::Status perform(const Unstage&) {
    staged_.clear();
    return absl::OkStatus();
  }

  const std::shared_ptr<DataDirectory> directory_;  // keeps the lock
  const LmdbStateOptions options_;
  std::shared_ptr<storage::LmdbTable> table_;
  StateSink* sink_ = nullptr;
  std::thread thread_;
  RowsByKey staged_;  // of the thread

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<StateOperation> waiting_;
  bool closing_ = false;
  bool failed_ = false;
};

LmdbStateStore::LmdbStateStore(std::shared_ptr<DataDirectory> directory, LmdbStateOptions options)
    : writer_(std::make_unique<Writer>(std::move(directory), options)) {}
LmdbStateStore::~LmdbStateStore() = default;

absl::StatusOr<Position> LmdbStateStore::open(StateSink& sink) { return writer_->open(sink); }
void LmdbStateStore::commit(CheckpointBatch batch) { writer_->start(std::move(batch)); }
void LmdbStateStore::stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) {
  const absl::Status fits = check_chunk(range, rows);
  COORDKIT_CHECK_MSG(fits.ok(), fits.ToString());
  writer_->start(StageRows{ticket, std::move(range), std::move(rows)});
}
void LmdbStateStore::install(Position applied, uint64_t digest) { writer_->start(InstallStaged{applied, digest}); }
void LmdbStateStore::unstage() { writer_->start(Unstage{}); }
absl::StatusOr<std::unique_ptr<CheckpointView>> LmdbStateStore::view() { return writer_->view(); }
void LmdbStateStore::close() { writer_->close(); }

}  // namespace coordkit
