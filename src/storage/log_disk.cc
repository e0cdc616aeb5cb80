#include "storage/log_disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

constexpr uint64_t kFillStepBytes = 512 << 10;  // of a spare, between two syncs
constexpr size_t kScrubStepBytes = 1 << 20;     // the disk's thread has writes to do in between
constexpr auto kSpaceRetry = std::chrono::milliseconds(100);
constexpr auto kLookAgain = std::chrono::milliseconds(20);  // whether a mark is due, while another thread works

size_t bytes_of(const LogWrite& step) {
  size_t bytes = 0;
  for (const raft::Entry& entry : step.entries) bytes += entry.bytes();
  for (const raft::Entry& entry : step.repairs) bytes += entry.bytes();
  return bytes;
}

}  // namespace

SegmentedLogStore::Disk::Disk(StoreId store, BootCounter boot, FileSystemFactory files, SegmentedLogOptions options,
                              std::shared_ptr<DataDirectory> directory)
    : store_(store),
      boot_(boot),
      files_factory_(std::move(files)),
      options_(options),
      directory_(std::move(directory)),
      pace_(options.quick_sync),
      noted_(directory_ == nullptr || directory_->had_log()) {}

absl::StatusOr<RecoveredLog> SegmentedLogStore::Disk::open(LogSink& sink) {
  if (absl::Status status = options_.validate(); !status.ok()) return status;
  if (sink_ != nullptr) return make_error(Reason::InUse, "this log store was opened before; make a new one");
  for (std::unique_ptr<FileSystem>* files : {&files_, &preparer_files_}) {
    absl::StatusOr<std::unique_ptr<FileSystem>> made = files_factory_();
    if (!made.ok()) return made.status();
    *files = *std::move(made);
  }
  absl::StatusOr<log::OpenedLog> opened = log::Log::open(*files_, {.store = store_,
                                                                   .segment_bytes = options_.segment_bytes,
                                                                   .small_segment_bytes = options_.small_segment_bytes,
                                                                   .checkpointed = checkpointed_});
  if (!opened.ok()) return opened.status();
  log_ = std::move(opened->log);
  sink_ = &sink;
  disk_thread_ = std::thread([this] { run(); });
  preparer_thread_ = std::thread([this] { prepare(); });
  return RecoveredLog{.store = store_,
                      .boot = boot_,
                      .hard_state = opened->hard_state,
                      .base = opened->base,
                      .entries = std::move(opened->entries),
                      .damaged = std::move(opened->damaged),
                      .peers = std::move(opened->peers),
                      .had_log = directory_ != nullptr && directory_->had_log()};
}

void SegmentedLogStore::Disk::close() {
  {
    std::scoped_lock lock(mutex_);
    closing_ = stop_preparer_ = true;
  }
  disk_wakes_.notify_one();
  preparer_wakes_.notify_one();
  if (preparer_thread_.joinable()) preparer_thread_.join();
  if (disk_thread_.joinable()) disk_thread_.join();
}

void SegmentedLogStore::Disk::post(Task task) {
  {
    std::unique_lock lock(mutex_);
    if (final_) {
      lock.unlock();
      return drop(task);
    }
    if (closing_ && !std::holds_alternative<SpareReady>(task) && !std::holds_alternative<SpareFailed>(task)) return;
    deferred_ = false;  // the disk thread takes that write too
    waiting_.push_back(std::move(task));
  }
  disk_wakes_.notify_one();
}

// One write at a time, and none that needs another segment.
bool SegmentedLogStore::Disk::defer(LogWrite write) {
  {
    const std::lock_guard lock(mutex_);
    const bool idle = worker_ == Worker::None && waiting_.empty() && !stalled_ && !closing_ && !final_;
    if (idle && noted_ && pace_.quick() && log_->fits({&write, 1})) {
      waiting_.push_back(std::move(write));
      return deferred_ = true;
    }
  }
  post(std::move(write));
  return false;
}

void SegmentedLogStore::Disk::perform_deferred() {
  {
    const std::lock_guard lock(mutex_);
    if (!deferred_ || closing_) return;
    worker_ = Worker::LentThread;
    deferred_ = false;
    tasks_.swap(waiting_);
  }
  work();
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    worker_ = Worker::None;
    wake = closing_ || final_ || !waiting_.empty() || (sleeps_untimed_ && log_->progress_due());
  }
  if (wake) disk_wakes_.notify_one();
}

void SegmentedLogStore::Disk::run() {
  do {
    work();
  } while (wait());
  if (final_ || stalled_) return;
  mark_wanted_ = true;
  work();
}

void SegmentedLogStore::Disk::work() try {
  if (std::exchange(mark_wanted_, false) && log_->progress_due()) write_mark();
  perform_all();
  if (!final_) order_spare();
} catch (const CheckFailure& failure) {
  fail(make_error(Reason::BrokenInvariant, failure.what()));
}

// When there is something to do even if no request arrives; nullopt: never. Only while no thread works.
std::optional<SegmentedLogStore::Disk::Clock::time_point> SegmentedLogStore::Disk::due() const {
  if (stalled_) return stalled_at_ + kSpaceRetry;
  if (log_->progress_due()) return last_write_ + options_.idle_before_mark;
  return std::nullopt;
}

bool SegmentedLogStore::Disk::wait() {
  std::unique_lock lock(mutex_);
  worker_ = Worker::None;
  const auto wanted = [this] { return closing_ || final_ || (!waiting_.empty() && !deferred_); };
  for (;;) {
    // The end of what a lent thread does wakes this one if there is work; a mark can wait.
    const bool lent = worker_ == Worker::LentThread;
    const std::optional<Clock::time_point> at = lent ? Clock::now() + kLookAgain : due();
    if (!lent && (wanted() || (at && *at <= Clock::now()))) break;
    sleeps_untimed_ = !at;
    at ? void(disk_wakes_.wait_until(lock, *at)) : disk_wakes_.wait(lock);
  }
  sleeps_untimed_ = deferred_ = false;
  if (final_ || (closing_ && (stalled_ || waiting_.empty()))) return false;
  worker_ = Worker::DiskThread;
  mark_wanted_ = waiting_.empty() && !stalled_;
  std::move(waiting_.begin(), waiting_.end(), std::back_inserter(tasks_));
  waiting_.clear();
  return true;
}

void SegmentedLogStore::Disk::perform_all() {
  if (stalled_) stall();
  while (!stalled_ && !final_ && !tasks_.empty()) {
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    perform(std::move(task));
  }
  if (!stalled_ && !final_ && !batch_.empty()) write_batch().IgnoreError();
}

void SegmentedLogStore::Disk::perform(Task task) {
  if (LogWrite* step = std::get_if<LogWrite>(&task)) {
    batch_bytes_ += bytes_of(*step);
    batch_.push_back(std::move(*step));
    if (batch_bytes_ >= options_.batch_bytes_max) write_batch().IgnoreError();
    return;
  }
  if (const SpareReady* spare = std::get_if<SpareReady>(&task)) {
    log_->spare_ready(spare->number, spare->capacity);
    ordered_ = false;
    report(LogSpace::Ample);
    return;
  }
  if (SpareFailed* failed = std::get_if<SpareFailed>(&task)) return fail(std::move(failed->why));

  // The others see every write submitted before them.
  if (!batch_.empty() && !write_batch().ok()) {
    if (final_) return drop(task);
    tasks_.push_front(std::move(task));
    return;
  }
  if (const Read* read = std::get_if<Read>(&task)) {
    sink_->log_read(read->first,
                    log_->read(read->first, read->last, std::min<size_t>(read->bytes_max, options_.read_bytes_max)));
  } else if (const Scrub* scrub = std::get_if<Scrub>(&task)) {
    scrub->done(log_->scrub(scrub->from, kScrubStepBytes));
  } else if (const Compact* compact = std::get_if<Compact>(&task)) {
    if (absl::Status status = log_->compact(compact->through); !status.ok()) fail(std::move(status));
  }
}

absl::Status SegmentedLogStore::Disk::write_batch() {
  const WriteNumber highest = batch_.back().number;
  const Clock::time_point began = Clock::now();
  absl::Status status = log_->append(batch_);
  if (absl::IsResourceExhausted(status) && log_->failure().ok()) {
    stalled_ = true;
    stalled_at_ = Clock::now();
    report(LogSpace::Full);
    return status;
  }
  if (status.ok()) status = log_->sync();
  if (status.ok()) status = note_log();
  if (!status.ok()) {
    fail(status);
    return status;
  }
  batch_.clear();
  batch_bytes_ = 0;
  last_write_ = Clock::now();
  pace_.took(last_write_ - began);
  sink_->written(highest);
  return absl::OkStatus();
}

// Recorded before the first entry is acknowledged. If there is no room for the record, with the next batch.
absl::Status SegmentedLogStore::Disk::note_log() {
  if (noted_ || !log_->state().last.index) return absl::OkStatus();
  absl::Status status = directory_->note_log();
  noted_ = status.ok();
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

// No space for the next segment. First what frees some: compaction; then the waiting batch is retried.
void SegmentedLogStore::Disk::stall() {
  std::deque<Task> rest;
  const uint32_t first_segment = log_->state().first_segment;
  for (Task& task : tasks_) {
    if (const Compact* compact = std::get_if<Compact>(&task)) {
      if (absl::Status status = log_->compact(compact->through); !status.ok()) return fail(std::move(status));
    } else {
      rest.push_back(std::move(task));
    }
  }
  tasks_ = std::move(rest);
  if (log_->state().first_segment != first_segment) write_mark();
  if (final_) return;
  stalled_ = false;
  if (write_batch().ok()) report(log_->wants_spare() ? LogSpace::Low : LogSpace::Ample);
}

void SegmentedLogStore::Disk::report(LogSpace space) {
  if (space_.exchange(space) != space) sink_->log_space(space);
}

void SegmentedLogStore::Disk::write_mark() {
  absl::Status status = log_->append_mark();
  if (absl::IsResourceExhausted(status) && log_->failure().ok()) {
    last_write_ = Clock::now() + kSpaceRetry;  // the previous batch is safe, only the mark has no room yet
    return;
  }
  if (status.ok()) status = log_->sync();
  if (!status.ok()) fail(std::move(status));
}

void SegmentedLogStore::Disk::order_spare() {
  if (ordered_ || !log_->wants_spare()) return;
  ordered_ = true;
  {
    std::scoped_lock lock(mutex_);
    order_ = SpareOrder{log_->take_number(), log_->segment_bytes()};
  }
  preparer_wakes_.notify_one();
}

void SegmentedLogStore::Disk::fail(absl::Status why) {
  {
    std::scoped_lock lock(mutex_);
    if (final_) return;
    final_ = stop_preparer_ = true;
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(tasks_));
    waiting_.clear();
  }
  preparer_wakes_.notify_one();
  sink_->log_failed(std::move(why));
  for (const Task& task : std::exchange(tasks_, {})) drop(task);
}

// A caller that scrubs waits for an answer, even from a store that has failed: there is nothing more to check.
void SegmentedLogStore::Disk::drop(const Task& task) {
  if (const Scrub* scrub = std::get_if<Scrub>(&task)) scrub->done({});
}

void SegmentedLogStore::Disk::prepare() {
  for (;;) {
    SpareOrder order;
    {
      std::unique_lock lock(mutex_);
      preparer_wakes_.wait(lock, [this] { return stop_preparer_ || order_; });
      if (stop_preparer_) return;
      order = *order_;
    }
    const absl::StatusOr<bool> made = make_spare(order);
    if (!made.ok() && !absl::IsResourceExhausted(made.status())) return post(SpareFailed{made.status()});
    std::unique_lock lock(mutex_);
    if (stop_preparer_) return;
    if (made.ok()) {
      order_.reset();
      lock.unlock();
      post(SpareReady{order.number, order.capacity});
      continue;
    }
    if (LogSpace ample = LogSpace::Ample; space_.compare_exchange_strong(ample, LogSpace::Low)) sink_->log_space(LogSpace::Low);
    preparer_wakes_.wait_for(lock, kSpaceRetry, [this] { return stop_preparer_; });
  }
}

// False: stopped midway. The next open removes what is left behind.
absl::StatusOr<bool> SegmentedLogStore::Disk::make_spare(const SpareOrder& order) {
  log::SpareMaker maker(*preparer_files_, order.number, order.capacity);
  for (;;) {
    absl::StatusOr<bool> ready = maker.step(kFillStepBytes);
    if (!ready.ok()) {
      maker.discard().IgnoreError();
      return ready;
    }
    if (*ready) return true;
    std::scoped_lock lock(mutex_);
    if (stop_preparer_) return false;
  }
}

}  // namespace coordkit
