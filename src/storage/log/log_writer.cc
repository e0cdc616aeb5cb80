#include "storage/log/log_writer.h"

#include <utility>

namespace coordkit::storage {
namespace {

constexpr auto kNextTry = std::chrono::milliseconds(100);

size_t bytes_of(const LogWrite& step) {
  size_t bytes = 0;
  for (const raft::Entry& entry : step.entries) bytes += entry.bytes();
  for (const raft::Entry& entry : step.repairs) bytes += entry.bytes();
  return bytes;
}

}  // namespace

LogWriter::LogWriter(const SegmentedLogOptions& options, const DataDirectory* directory)
    : options_(options),
      directory_(directory),
      pace_(options.quick_sync),
      noted_(directory == nullptr || directory->had_log()) {}

void LogWriter::note_sizes(const log::Log& log) {
  bytes_written_.store(log.bytes_written(), std::memory_order_relaxed);
  index_bytes_.store(log.index_bytes(), std::memory_order_relaxed);
}

void LogWriter::add(LogWrite write) {
  bytes_ += bytes_of(write);
  batch_.push_back(std::move(write));
}

absl::StatusOr<WriteNumber> LogWriter::write(log::Log& log) {
  stalled_at_.reset();
  const WriteNumber last = batch_.back().number;
  const Clock::time_point began = Clock::now();
  absl::Status status = log.append(batch_);
  note_sizes(log);
  if (log.may_retry(status)) {
    stalled_at_ = Clock::now();
    return status;
  }
  if (status.ok()) status = log.sync();
  if (status.ok()) status = note_log(log);
  if (!status.ok()) return status;
  batch_.clear();
  bytes_ = 0;
  last_write_ = Clock::now();
  pace_.took(last_write_ - began);
  return last;
}

// Recorded before the first entry is acknowledged. If there is no room for the record, with the next batch.
absl::Status LogWriter::note_log(const log::Log& log) {
  if (noted_ || !log.state().last.index) return absl::OkStatus();
  absl::Status status = directory_->note_log();
  noted_ = status.ok();
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

absl::Status LogWriter::write_mark(log::Log& log) {
  absl::Status status = log.append_mark();
  note_sizes(log);
  if (log.may_retry(status)) {
    last_write_ = Clock::now() + kNextTry;
    return absl::OkStatus();
  }
  return status.ok() ? log.sync() : status;
}

std::optional<LogWriter::Clock::time_point> LogWriter::due(const log::Log& log) const {
  if (stalled_at_) return *stalled_at_ + kNextTry;
  if (log.progress_due()) return last_write_ + options_.idle_before_mark;
  return std::nullopt;
}

}  // namespace coordkit::storage
