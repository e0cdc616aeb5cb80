#include "coordkit/storage/lmdb_state_store.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "base/check.h"
#include "base/last_words.h"
#include "base/problems.h"
#include "base/row_map.h"
#include "base/row_sums.h"
#include "base/thread.h"
#include "coordkit/error.h"
#include "storage/state/lmdb_table.h"

namespace coordkit {
namespace {

constexpr auto kCheckpointRetry = std::chrono::milliseconds(100);
constexpr auto kPauseMax = std::chrono::milliseconds(60'000);  // after a whole batch that could not be written, doubling
constexpr auto kLookEvery = std::chrono::seconds(1);           // whether the files were removed

}  // namespace

absl::Status LmdbStateOptions::validate() const {
  Problems problems;
  if (map_bytes_max < 1 << 20 || map_bytes_max > uint64_t{64} << 40)
    problems.add("map_bytes_max is not between 1 MiB and 64 TiB");
  if (views_max == 0 || views_max > 10'000) problems.add("views_max is not between 1 and 10,000");
  return problems.status();
}

// The background thread and what waits for it.
class COORDKIT_HIDDEN LmdbStateStore::Writer {
 public:
  Writer(std::shared_ptr<DataDirectory> directory, LmdbStateOptions options)
      : directory_(std::move(directory)), options_(options) {}
  ~Writer() { close(); }

  absl::StatusOr<Position> open(StateSink& sink) {
    if (absl::Status status = options_.validate(); !status.ok()) return status;
    if (table_) return make_error(Reason::InUse, "this state store was opened before; make a new one");
    absl::StatusOr<std::shared_ptr<storage::LmdbTable>> table = storage::LmdbTable::open(table_options());
    if (!table.ok()) return at_open(table.status());
    table_ = *std::move(table);
    sink_ = &sink;
    thread_ = Thread("coordkit/state", [this] { run(); });
    return table_->applied();
  }

  void start(StateOperation operation) {
    {
      std::scoped_lock lock(mutex_);
      if (closing_ || failed_ || (damaged_ && changes_state(operation) && !is_whole(operation))) return;
      COORDKIT_CHECK_MSG(!changes_state(operation) || !changing_, "at most one commit or install is under way");
      changing_ = changing_ || changes_state(operation);
      waiting_.push_back(std::move(operation));
    }
    wakes_.notify_one();
  }

  absl::StatusOr<std::unique_ptr<CheckpointView>> view() {
    const std::shared_ptr<storage::LmdbTable> table = this->table();
    if (!table) return make_error(Reason::Closed, "the state store is not open");
    return table->view();
  }

  absl::Status scrub(StateStore::Pace pace) {
    const std::shared_ptr<storage::LmdbTable> table = this->table();
    if (!table) return make_error(Reason::Closed, "the state store is not open");
    return table->scrub(pace);
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
  // Work for the thread: an operation, a step of emptying the spare table, or a look at whether the files are there.
  struct Work {
    enum class Kind : uint8_t { Operation, EraseStale, Look, Rest };
    Kind kind = Kind::Rest;
    StateOperation operation = Unstage{};
  };

  storage::LmdbTable::Options table_options() const {
    return {.path = directory_->state_path(),
            .store = directory_->store(),
            .map_bytes_max = options_.map_bytes_max,
            .views_max = options_.views_max,
            .keep_alive = directory_};
  }
  static absl::Status at_open(const absl::Status& why) {
    const std::string text(why.message());
    if (absl::IsUnavailable(why)) return absl::ResourceExhaustedError(text);
    const bool damaged = absl::IsDataLoss(why) && reason_of(why) != Reason::StorageFailed;
    return damaged ? make_error(Reason::Corrupt, text + "; it must be installed from a peer: replace this member") : why;
  }
  std::shared_ptr<storage::LmdbTable> table() {
    std::scoped_lock lock(mutex_);
    return table_;
  }

  // The one place of the thread where what was not expected ends: a step may be half done then, so the store has failed.
  void run() noexcept try { run_all(); } catch (...) {
    {
      const std::scoped_lock lock(mutex_);
      failed_ = true;
      waiting_.clear();
    }
    fail(last_words_.caught());
  }
  void fail(absl::Status why) noexcept try {
    sink_->checkpoint_failed(std::move(why));
  } catch (...) {  // a sink that has no memory either; Replica's allocates nothing
  }

  void run_all() {
    while (std::optional<Work> work = next()) {
      absl::Status status = perform_work(*work);
      while (absl::IsUnavailable(status) && wait_for_space(status)) status = perform_work(*work);
      if (absl::IsUnavailable(status)) return;  // closed while it waited
      if (!status.ok()) {
        if (!survives(std::move(status), *work)) return;
      } else if (work->kind != Work::Kind::Rest && std::exchange(waits_, false)) {
        sink_->checkpoint_waits(absl::OkStatus());
      }
    }
  }

  absl::Status perform_work(const Work& work) {
    switch (work.kind) {
      case Work::Kind::Operation: return std::visit([this](const auto& one) { return perform(one); }, work.operation);
      case Work::Kind::EraseStale: return table_->erase_stale();
      case Work::Kind::Look: return table_->still_there();
      case Work::Kind::Rest: break;
    }
    return absl::OkStatus();
  }

  // The disk is full: the operation is retried until it succeeds, and nothing is lost. False: the store closes.
  bool wait_for_space(const absl::Status& why) {
    if (!std::exchange(waits_, true)) sink_->checkpoint_waits(why);
    return pause(kCheckpointRetry);
  }
  bool pause(std::chrono::milliseconds length) {
    std::unique_lock lock(mutex_);
    return !wakes_.wait_for(lock, length, [this] { return closing_; });
  }

  // kDataLoss: stored rows are damaged, or may be, because a write or a sync of them failed. From here on only a whole batch
  // may change them, in a file of its own. If that cannot be written either, another one is asked for after a pause. False: it
  // is over.
  bool survives(absl::Status why, const Work& work) {
    const bool whole = work.kind == Work::Kind::Operation && is_whole(work.operation);
    if (!absl::IsDataLoss(why) || (whole && !directory_->still_there().ok())) {
      become(failed_);
      sink_->checkpoint_failed(std::move(why));
      return false;
    }
    if (whole) {
      pause_ = std::clamp<std::chrono::milliseconds>(2 * pause_, kCheckpointRetry, kPauseMax);
      waits_ = true;
      sink_->checkpoint_waits(why);
      if (!pause(pause_)) return false;
    }
    become(damaged_);
    sink_->checkpoint_damaged(std::move(why));
    return true;
  }
  void become(bool& state) {
    const std::scoped_lock lock(mutex_);
    state = true;
    changing_ = false;
    waiting_.clear();
  }

  // The next work; nothing once the store closes. Stale rows are erased whenever the thread is idle. A commit comes before
  // them. Operations on staged rows wait until they are erased, and for a whole batch while stored rows are damaged.
  std::optional<Work> next() {
    std::unique_lock lock(mutex_);
    const bool stale = !damaged_ && table_->stale();
    const auto ready = [&] { return closing_ || stale || first() != waiting_.end(); };
    if (!wakes_.wait_for(lock, kLookEvery, ready)) return Work{damaged_ ? Work::Kind::Rest : Work::Kind::Look};
    if (closing_) return std::nullopt;
    if (stale && (waiting_.empty() || !std::holds_alternative<CheckpointBatch>(waiting_.front())))
      return Work{Work::Kind::EraseStale};
    const auto taken = first();
    Work work{Work::Kind::Operation, std::move(*taken)};
    waiting_.erase(taken);
    return work;
  }
  std::deque<StateOperation>::iterator first() {
    return damaged_ ? std::ranges::find_if(waiting_, is_whole) : waiting_.begin();
  }

  void changed() {
    std::scoped_lock lock(mutex_);
    changing_ = false;
  }

  absl::Status perform(const CheckpointBatch& batch) {
    if (absl::Status status = batch.whole ? replace_table(batch) : table_->write(batch); !status.ok()) return status;
    changed();
    sink_->checkpointed(batch.applied);
    return absl::OkStatus();
  }

  // The file with the directory's name may belong to somebody else: only files of the locked directory are replaced.
  absl::Status replace_table(const CheckpointBatch& batch) {
    if (absl::Status status = directory_->still_there(); !status.ok()) return status;
    absl::StatusOr<std::shared_ptr<storage::LmdbTable>> table = storage::LmdbTable::replace_with(table_options(), batch);
    if (!table.ok()) return table.status();
    std::scoped_lock lock(mutex_);
    std::swap(table_, *table);  // the old one lives as long as its views
    damaged_ = false;
    pause_ = {};
    return absl::OkStatus();
  }

  absl::Status perform(const StageRows& stage) {
    if (absl::Status status = table_->stage(stage.range, stage.rows); !status.ok()) return status;
    sink_->staged(stage.ticket);
    return absl::OkStatus();
  }

  absl::Status perform(const InstallStaged& install) {
    const absl::StatusOr<storage::LmdbTable::Fit> fits = table_->verify_staged(install.digest);
    if (!fits.ok()) return fits.status();
    if (*fits == storage::LmdbTable::Fit::Refused) {
      table_->unstage();
      changed();
      sink_->install_refused(
          install.applied,
          make_error(Reason::Corrupt, "the staged rows are rotten or do not match the digest; fetch them again"));
      return absl::OkStatus();
    }
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
  const LastWords last_words_;
  Thread thread_;

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<StateOperation> waiting_;
  bool changing_ = false;  // a commit or an install is in progress
  bool closing_ = false;
  bool failed_ = false;
  bool damaged_ = false;  // only a whole batch changes it

  // Used by the thread only.
  bool waits_ = false;                 // as last reported to the sink
  std::chrono::milliseconds pause_{};  // after the last whole batch that failed
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
absl::Status LmdbStateStore::scrub(Pace pace) { return writer_->scrub(pace); }
void LmdbStateStore::close() { writer_->close(); }

}  // namespace coordkit
