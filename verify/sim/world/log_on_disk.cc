#include "sim/world/log_on_disk.h"

#include <algorithm>
#include <utility>

namespace coordkit::sim {
namespace {

constexpr uint64_t kFillStepBytes = 64 << 10;  // of a spare, between two batches
constexpr Duration kSparePauseMin = std::chrono::milliseconds(100);
constexpr Duration kSparePauseMax = std::chrono::minutes(1);

bool is_spare(std::string_view name) {
  const std::optional<log::ParsedName> parsed = log::parse_name(name);
  return parsed && parsed->use != log::FileUse::Segment;
}

}  // namespace

absl::StatusOr<log::OpenedLog> LogOnDisk::open(StoreId store) {
  log_.reset();
  spare_.reset();
  short_of_space_ = false;
  spare_failure_ = absl::OkStatus();
  spare_pause_ = {};
  spare_again_at_ = {};
  const FileFaults faults = files_.faults();
  FileFaults without_misreads = faults;
  without_misreads.misdirected_reads = 0;  // what recovery misreads counts as damaged, and may be the newest batch
  files_.set_faults(without_misreads);
  absl::StatusOr<log::OpenedLog> opened = log::Log::open(
      files_, {.store = store, .segment_bytes = options_.segment_bytes, .small_segment_bytes = options_.small_segment_bytes});
  files_.set_faults(faults);
  if (!opened.ok()) return opened;
  log_ = std::move(opened->log);
  marked_ = log_->durable();
  return opened;
}

absl::Status LogOnDisk::write(std::span<const LogWrite> steps) {
  absl::Status status = log_->append(steps);
  if (!status.ok()) return status;
  const log::DiskPosition mark = log_->durable();  // carried by the batch
  status = log_->sync();
  if (status.ok()) marked_ = mark;
  return status;
}

const absl::Status& LogOnDisk::look_at_spares() {
  if (absl::Status why = log_->spares().take_failure(); !why.ok()) spare_failure_ = std::move(why);
  return spare_failure_;
}

absl::Status LogOnDisk::prepare(TrueTime now) {
  if (!spare_) {
    if (!log_->spares().wanted()) {
      short_of_space_ = false;
      spare_failure_ = absl::OkStatus();
      return absl::OkStatus();
    }
    spare_.emplace(files_, log_->spares().take_number(), log_->spares().segment_bytes());
  }
  if (now < spare_again_at_) return absl::OkStatus();
  const absl::StatusOr<bool> ready = spare_->step(kFillStepBytes);
  if (!ready.ok()) return spare_fails(ready.status(), now);
  if (*ready) {
    log_->spares().add(spare_->number(), spare_->capacity());
    spare_.reset();
    short_of_space_ = false;
    spare_failure_ = absl::OkStatus();
    spare_pause_ = {};
  }
  return absl::OkStatus();
}

absl::Status LogOnDisk::spare_fails(absl::Status why, TrueTime now) {
  if (spare_->directory_failed()) return why;
  spare_->discard().IgnoreError();  // a leftover is removed by the next attempt, or by the next open
  if (absl::IsResourceExhausted(why)) {
    spare_.reset();
    short_of_space_ = true;
    return absl::OkStatus();
  }
  spare_failure_ = std::move(why);
  spare_pause_ = std::clamp(2 * spare_pause_, kSparePauseMin, kSparePauseMax);
  spare_again_at_ = now + spare_pause_;
  return absl::OkStatus();
}

void LogOnDisk::fail_spares(uint64_t after, uint64_t count) {
  files_.fail_some({.of = is_spare, .after = after, .count = count});
}

void LogOnDisk::restore(const SimFileSystem::Image& files, const log::DiskPosition& marked) {
  files_.restore(files);
  marked_ = marked;
}

void LogOnDisk::end_process(std::span<const LogWrite> unwritten) {
  const size_t count = random_.below(unwritten.size() + 1);
  if (log_ && count > 0) log_->append(unwritten.first(count)).IgnoreError();
  log_.reset();
  spare_.reset();
  files_.misdirect_next_write({}, 0);  // there is no next write
  files_.fail_some({});
}

std::optional<LogOnDisk::Place> LogOnDisk::place_below_mark() {
  const absl::StatusOr<std::vector<std::string>> names = files_.list();
  if (!names.ok()) return std::nullopt;
  std::vector<Place> places;
  for (const std::string& name : *names) {
    const std::optional<log::ParsedName> parsed = log::parse_name(name);
    if (!parsed || parsed->use != log::FileUse::Segment || parsed->number > marked_.segment) continue;
    const bool newest = parsed->number == marked_.segment;
    const size_t end = newest ? marked_.offset / kPageBytes : files_.pages(name);
    for (size_t page = 0; page < end; ++page) {
      if (newest && page < 2 && page != parsed->number % 2) continue;
      if (files_.in_use(name, page)) places.push_back({name, page});
    }
  }
  if (places.empty()) return std::nullopt;
  return places[random_.below(places.size())];
}

std::optional<LogOnDisk::Copy> LogOnDisk::place_of(StoreId store, Index index) const {
  std::optional<Copy> found;
  for (const auto& [name, bytes] : files_.image()) {
    const std::optional<log::ParsedName> parsed = log::parse_name(name);
    if (!parsed || parsed->use != log::FileUse::Segment) continue;
    for (const log::Record& record : log::find_records(bytes, log::kFirstBatchOffset, bytes.size(), {store, parsed->number})) {
      if (!log::holds_entry(record.kind) || record.index != index) continue;
      const auto payload = static_cast<size_t>(record.payload.data() - bytes.data());
      const bool header = record.run_bytes == 0 || record.payload.empty();
      found = {name, header ? record.offset : payload, payload};
    }
  }
  return found;
}

void LogOnDisk::rot(StoreId store, Index index) {
  const std::optional<Copy> found = place_of(store, index);
  if (found) files_.flip(found->file, random_.chance(0.5) ? found->at : found->payload);
}

bool LogOnDisk::rot_passing(Index index) {
  const std::optional<log::DiskRange> place = log_ && !passing_.contains(index) ? log_->place(index) : std::nullopt;
  if (!place) return false;
  const std::string name = log::file_name(log::FileUse::Segment, place->at.segment);
  files_.flip(name, place->at.offset);
  passing_[index] = {name, place->at.offset, files_.image().at(name).substr(place->at.offset, place->bytes)};
  return true;
}

// A segment may have been reused since, or be gone.
void LogOnDisk::pass() {
  const SimFileSystem::Image files = passing_.empty() ? SimFileSystem::Image() : files_.image();
  for (const auto& [index, flipped] : std::exchange(passing_, {})) {
    const auto file = files.find(flipped.file);
    if (file == files.end() || file->second.size() < flipped.at + flipped.bytes.size()) continue;
    if (file->second.compare(flipped.at, flipped.bytes.size(), flipped.bytes) == 0) files_.flip(file->first, flipped.at);
  }
}

}  // namespace coordkit::sim
