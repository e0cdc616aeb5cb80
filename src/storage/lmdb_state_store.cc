#include "coordkit/storage/lmdb_state_store.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
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
      COORDKIT_CHECK_MSG(!changes_state(operation) || !changing_, "at most one commit or install is under way");
      changing_ = changing_ || changes_state(operation);
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
  // Work for the thread: an operation, or a step of emptying the spare table.
  struct EraseStale {};
  using Work = std::variant<EraseStale, StateOperation>;

  void run() {
    while (std::optional<Work> work = next()) {
      absl::Status status = std::holds_alternative<EraseStale>(*work)
                                ? table_->erase_stale()
                                : std::visit([this](const auto& one) { return perform(one); }, std::get<StateOperation>(*work));
      if (status.ok()) continue;
      {
        std::scoped_lock lock(mutex_);
        failed_ = true;
        waiting_.clear();
      }
      sink_->checkpoint_failed(std::move(status));
      return;
    }
  }

  // What to do next; nothing once the store closes. Stale rows are erased whenever the thread is idle; a commit goes before
  // them, and what is about staged rows has to wait for it.
  std::optional<Work> next() {
    std::unique_lock lock(mutex_);
    const bool stale = table_->stale();
    wakes_.wait(lock, [&] { return closing_ || stale || !waiting_.empty(); });
    if (closing_) return std::nullopt;
    if (stale && (waiting_.empty() || !std::holds_alternative<CheckpointBatch>(waiting_.front()))) return EraseStale{};
    StateOperation operation = std::move(waiting_.front());
    waiting_.pop_front();
    return operation;
  }

  void changed() {
    std::scoped_lock lock(mutex_);
    changing_ = false;
  }

  absl::Status perform(const CheckpointBatch& batch) {
    if (absl::Status status = table_->write(batch); !status.ok()) return status;
    changed();
    sink_->checkpointed(batch.applied);
    return absl::OkStatus();
  }

  absl::Status perform(const StageRows& stage) {
    if (absl::Status status = table_->stage(stage.range, stage.rows); !status.ok()) return status;
    sink_->staged(stage.ticket);
    return absl::OkStatus();
  }

  absl::Status perform(const InstallStaged& install) {
    absl::Status fits = table_->verify_staged(install.digest);
    if (absl::IsDataLoss(fits)) {
      table_->unstage();
      changed();
      sink_->install_refused(install.applied, std::move(fits));
      return absl::OkStatus();
    }
    if (!fits.ok()) return fits;
    if (absl::Status status = table_->install(install.applied); !status.ok()) return status;
    changed();
    sink_->installed(install.applied);
    return absl::OkStatus();
  }

  absl::Status perform(const Unstage&) {
    table_->unstage();
    return absl::OkStatus();
  }

  const std::shared_ptr<DataDirectory> directory_;  // keeps the lock
  const LmdbStateOptions options_;
  std::shared_ptr<storage::LmdbTable> table_;
  StateSink* sink_ = nullptr;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<StateOperation> waiting_;
  bool changing_ = false;  // a commit or an install is under way
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
