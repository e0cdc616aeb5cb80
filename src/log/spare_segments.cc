#include "log/spare_segments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "coordkit/error.h"
#include "log/segment.h"

namespace coordkit::log {

uint32_t SpareSegments::take_number() {
  COORDKIT_CHECK_MSG(next_number_ != 0, "the numbers of segments are used up");
  return next_number_++;
}

uint64_t SpareSegments::bytes() const {
  uint64_t bytes = 0;
  for (const Spare& spare : spares_) bytes += spare.capacity;
  return bytes;
}

void SpareSegments::retire(uint32_t segment, uint64_t capacity) {
  const std::string name = file_name(FileUse::Segment, segment);
  const bool kept = wanted() && capacity == options_.segment_bytes;
  absl::Status status = kept ? files_.rename(name, file_name(FileUse::Spare, segment)) : files_.remove(name);
  if (!status.ok()) {
    failure_ = std::move(status);
  } else if (kept) {
    add(segment, capacity);
  }
}

absl::StatusOr<SpareSegments::Open> SpareSegments::open(uint64_t bytes) {
  while (true) {
    const auto spare = std::ranges::find_if(spares_, [bytes](const Spare& each) { return each.capacity >= bytes; });
    if (spare == spares_.end()) return Open();
    absl::StatusOr<std::unique_ptr<File>> file = open_file(*spare);
    if (absl::IsResourceExhausted(file.status())) return file.status();
    if (file.ok() && *file) return Open{spare->number, spare->capacity, *std::move(file)};
    file.ok() ? forget(spare->number) : drop(spare->number, file.status());
  }
}

// Null: the file is gone, or was truncated. It holds nothing, so the caller discards it and makes another one.
absl::StatusOr<std::unique_ptr<File>> SpareSegments::open_file(const Spare& spare) {
  const std::string name = file_name(FileUse::Spare, spare.number);
  absl::StatusOr<std::unique_ptr<File>> file = files_.open(name, OpenMode::ReadWrite);
  if (absl::IsNotFound(file.status())) return nullptr;
  if (!file.ok()) return file;
  const absl::StatusOr<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  if (*size == spare.capacity) return file;
  if (absl::Status status = files_.remove(name); !status.ok() && !absl::IsNotFound(status)) return status;
  return nullptr;
}

void SpareSegments::forget(uint32_t number) {
  std::erase_if(spares_, [number](const Spare& spare) { return spare.number == number; });
}

// A file that cannot be removed is left to the next open.
void SpareSegments::drop(uint32_t number, absl::Status why) {
  forget(number);
  files_.remove(file_name(FileUse::Spare, number)).IgnoreError();
  failure_ = std::move(why);
}

absl::Status SpareSegments::make(uint64_t bytes) {
  const uint64_t capacity = std::max<uint64_t>(options_.small_segment_bytes, align_up(bytes, kBlockBytes));
  SpareMaker maker(files_, take_number(), capacity);
  const absl::StatusOr<bool> made = maker.step(capacity);
  if (made.ok()) {
    add(maker.number(), capacity);
    return absl::OkStatus();
  }
  if (maker.directory_failed()) return made.status();
  maker.discard().IgnoreError();  // the next open removes a leftover
  return absl::IsResourceExhausted(made.status()) ? made.status() : until_it_passes(made.status());
}

absl::Status until_it_passes(const absl::Status& why) {
  return absl::UnavailableError("no file can be made for the next segment of the log (" + std::string(sentence_of(why)) +
                                "): check this disk, or replace this member");
}

}  // namespace coordkit::log
