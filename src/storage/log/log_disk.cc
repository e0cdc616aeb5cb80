#include "storage/log/log_disk.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/check.h"
#include "coordkit/error.h"
#include "storage/posix_file_system.h"

namespace coordkit {
namespace {

constexpr auto kFilesLookedForEvery = std::chrono::seconds(1);  // whether the files were removed
constexpr size_t kScrubStepBytes = 1 << 20;                     // the disk's thread has writes to do in between

}  // namespace

SegmentedLogStore::Disk::Disk(StoreId store, BootCounter boot, FileSystemFactory files, SegmentedLogOptions options,
                              std::shared_ptr<DataDirectory> directory)
    : store_(store),
      boot_(boot),
      files_factory_(std::move(files)),
      options_(options),
      directory_(std::move(directory)),
      writer_(options_, directory_.get()) {}

absl::StatusOr<RecoveredLog> SegmentedLogStore::Disk::open(LogSink& sink) {
  if (absl::Status status = options_.validate(); !status.ok()) return status;
  if (sink_ != nullptr) return make_error(Reason::InUse, "this log store was opened before; make a new one");
  std::unique_ptr<FileSystem> preparers_files;
  for (std::unique_ptr<FileSystem>* files : {&files_, &preparers_files}) {
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
  writer_.note_sizes(*log_);
  sink_ = &sink;
  space_.tell(sink);
  preparer_.start(std::move(preparers_files),
                  {.made = [this](absl::StatusOr<storage::Spare> spare) { post(Queue::SpareMade{std::move(spare)}); },
                   .waits = [this] { space_.no_room(); },
                   .fails = [this](const absl::Status& why) { spare_fails(why); }});
  thread_ = Thread("coordkit/log", [this] { run(); });
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
  queue_.close();
  preparer_.close();
  if (thread_.joinable()) thread_.join();
}

// One write at a time, and none that needs another segment.
bool SegmentedLogStore::Disk::defer(LogWrite write) {
  if (queue_.defer(write, [this](const LogWrite& one) { return log_->fits({&one, 1}); })) return true;
  post(std::move(write));
  return false;
}

void SegmentedLogStore::Disk::perform_deferred() {
  if (!queue_.next_deferred(tasks_)) return;
  work();
  queue_.done(rest());
}

void SegmentedLogStore::Disk::run() {
  do {
    work();
  } while (next());
  if (queue_.failed() || writer_.stalled()) return;
  if (log_->progress_due()) last_mark();
}

bool SegmentedLogStore::Disk::next() noexcept {
  try {
    return queue_.next(rest(), tasks_);
  } catch (...) {
    fail(writer_.last_words().caught());
    return false;
  }
}

// One that cannot be written is not missed by the next start.
void SegmentedLogStore::Disk::last_mark() noexcept {
  try {
    write_mark();
  } catch (...) {
    fail(writer_.last_words().caught());
  }
}

SegmentedLogStore::Disk::Queue::Rest SegmentedLogStore::Disk::rest() const {
  const std::optional<Queue::Clock::time_point> due = writer_.due(*log_);
  return {.due = std::min(due.value_or(look_at_), look_at_), .stalled = writer_.stalled(), .quick = writer_.quick()};
}

// The one place of the thread where what was not expected ends. A write may be half done then, so the store has failed.
void SegmentedLogStore::Disk::work() noexcept {
  try {
    perform_all();
    if (!queue_.failed()) look_for_files();
    if (!queue_.failed()) order_spare();
  } catch (...) {
    fail(writer_.last_words().caught());
  }
}

void SegmentedLogStore::Disk::perform_all() {
  if (writer_.stalled()) stall();
  while (!writer_.stalled() && !queue_.failed() && !tasks_.empty()) {
    Queue::Task task = std::move(tasks_.front());
    tasks_.pop_front();
    perform(std::move(task));
  }
  if (!writer_.stalled() && !queue_.failed() && !writer_.empty()) write_batch();
}

void SegmentedLogStore::Disk::perform(Queue::Task task) {
  if (LogWrite* write = std::get_if<LogWrite>(&task)) {
    writer_.add(std::move(*write));
    if (writer_.full()) write_batch();
    return;
  }
  if (const Queue::SpareMade* made = std::get_if<Queue::SpareMade>(&task)) return take_spare(*made);

  // The others see every write submitted before them.
  if (!writer_.empty() && !write_batch()) {
    if (queue_.failed()) return Queue::drop(task);
    tasks_.push_front(std::move(task));
    return;
  }
  if (const Queue::Read* read = std::get_if<Queue::Read>(&task)) {
    sink_->log_read(read->first, read_log(*read));
  } else if (const Queue::Scrub* scrub = std::get_if<Queue::Scrub>(&task)) {
    scrub->done(log_->scrub(scrub->from, kScrubStepBytes));
    if (!log_->failure().ok()) fail(log_->failure());
  } else if (const Queue::Compact* compact = std::get_if<Queue::Compact>(&task)) {
    compact_log(*compact);
  } else if (log_->progress_due() && Queue::Clock::now() >= writer_.due(*log_)) {
    write_mark();
  }
}

// Whether somebody removed them under the running replica, which would notice it with the next segment only.
void SegmentedLogStore::Disk::look_for_files() {
  const Queue::Clock::time_point now = Queue::Clock::now();
  if (now < look_at_) return;
  look_at_ = now + kFilesLookedForEvery;
  if (absl::Status status = log_->look_for_files(); !status.ok()) fail(std::move(status));
}

// Reading changes nothing: without memory for what was asked for it is refused, and asked for once more.
absl::StatusOr<std::vector<raft::Entry>> SegmentedLogStore::Disk::read_log(const Queue::Read& read) {
  try {
    return log_->read(read.first, read.last, std::min<size_t>(read.bytes_max, options_.read_bytes_max));
  } catch (const std::bad_alloc&) {
    return writer_.last_words().no_memory();
  }
}

bool SegmentedLogStore::Disk::write_batch() {
  const absl::StatusOr<WriteNumber> written = writer_.write(*log_);
  if (written.ok()) {
    report_wait(absl::OkStatus());
    sink_->written(*written);
  } else if (writer_.stalled()) {
    if (storage::lacks_room(written.status())) {
      space_.is(LogSpace::Full);
    } else {
      report_wait(written.status());
    }
  } else {
    fail(written.status());
  }
  return written.ok();
}

void SegmentedLogStore::Disk::take_spare(const Queue::SpareMade& made) {
  if (!made.spare.ok()) return fail(made.spare.status());
  log_->spares().add(made.spare->number, made.spare->capacity);
  preparer_.taken();
  space_.is(LogSpace::Ample);
  if (spare_fails_.exchange(false)) sink_->log_spare_fails(absl::OkStatus());
}

// On either thread. One spare is under way at a time, so the reports of one follow those of the one before.
void SegmentedLogStore::Disk::spare_fails(const absl::Status& why) {
  spare_fails_ = true;
  sink_->log_spare_fails(why);
}

void SegmentedLogStore::Disk::compact_log(const Queue::Compact& compact) {
  if (absl::Status status = log_->compact(compact.through); !status.ok()) fail(std::move(status));
}

// No space, or no descriptor, for the next segment. First what frees some or has taken it; then the waiting batch is retried.
void SegmentedLogStore::Disk::stall() {
  const auto makes_room = [](const Queue::Task& task) {
    return std::holds_alternative<Queue::Compact>(task) || std::holds_alternative<Queue::SpareMade>(task);
  };
  Queue::Tasks first, rest;
  for (Queue::Task& task : tasks_) (makes_room(task) ? first : rest).push_back(std::move(task));
  tasks_ = std::move(rest);
  const uint32_t first_segment = log_->state().first_segment;
  for (const Queue::Task& task : first) {
    const auto* compact = std::get_if<Queue::Compact>(&task);
    compact ? compact_log(*compact) : take_spare(std::get<Queue::SpareMade>(task));
    if (queue_.failed()) return;
  }
  if (log_->state().first_segment != first_segment) write_mark();
  if (queue_.failed()) return;
  if (write_batch() && space() != LogSpace::Ample) space_.is(log_->spares().wanted() ? LogSpace::Low : LogSpace::Ample);
}

void SegmentedLogStore::Disk::report_wait(absl::Status why) {
  if (why == waits_) return;
  waits_ = why;
  sink_->log_waits(std::move(why));
}

void SegmentedLogStore::Disk::write_mark() {
  if (absl::Status status = writer_.write_mark(*log_); !status.ok()) fail(std::move(status));
}

void SegmentedLogStore::Disk::order_spare() {
  if (const absl::Status why = log_->spares().take_failure(); !why.ok()) spare_fails(why);
  const bool wanted = log_->spares().wanted();
  space_.wants_spare(wanted);
  if (!wanted && spare_fails_.exchange(false)) sink_->log_spare_fails(absl::OkStatus());
  if (wanted && !preparer_.ordered()) preparer_.order({log_->spares().take_number(), log_->spares().segment_bytes()});
}

// Allocates nothing.
void SegmentedLogStore::Disk::fail(absl::Status why) noexcept {
  if (!queue_.fail()) return;
  preparer_.stop();
  try {
    sink_->log_failed(std::move(why));
  } catch (...) {  // a sink that has no memory either; Replica's allocates nothing
  }
  for (; !tasks_.empty(); tasks_.pop_front()) Queue::drop(tasks_.front());
  queue_.drop_all();
}

}  // namespace coordkit
