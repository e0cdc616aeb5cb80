#include "log/spares.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "log/segment.h"

namespace coordkit::log {

uint32_t Spares::take_number() {
  COORDKIT_CHECK_MSG(next_number_ != 0, "the numbers of segments are used up");
  return next_number_++;
}

uint64_t Spares::bytes() const {
  uint64_t bytes = 0;
  for (const Spare& spare : spares_) bytes += spare.capacity;
  return bytes;
}

absl::Status Spares::retire(uint32_t segment, uint64_t capacity) {
  const std::string name = file_name(FileUse::Segment, segment);
  if (!wanted() || capacity != options_.segment_bytes) return files_.remove(name);
  add(segment, capacity);
  return files_.rename(name, file_name(FileUse::Spare, segment));
}

absl::StatusOr<Spares::Open> Spares::open(uint64_t bytes) {
  while (true) {
    const auto spare = std::ranges::find_if(spares_, [bytes](const Spare& each) { return each.capacity >= bytes; });
    if (spare == spares_.end()) return Open();
    absl::StatusOr<std::unique_ptr<File>> file = open_file(*spare);
    if (!file.ok()) return file.status();
    if (*file) return Open{spare->number, spare->capacity, *std::move(file)};
    spares_.erase(spare);
  }
}

// Null: the file is gone, or was truncated. It holds nothing, so the caller discards it and makes another one.
absl::StatusOr<std::unique_ptr<File>> Spares::open_file(const Spare& spare) {
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

void Spares::forget(uint32_t number) {
  std::erase_if(spares_, [number](const Spare& spare) { return spare.number == number; });
}

absl::Status Spares::make(uint64_t bytes) {
  const uint64_t capacity = std::max<uint64_t>(options_.small_segment_bytes, align_up(bytes, kBlockBytes));
  SpareMaker maker(files_, take_number(), capacity);
  const absl::StatusOr<bool> made = maker.step(capacity);
  if (made.ok()) {
    add(maker.number(), capacity);
    return absl::OkStatus();
  }
  if (absl::IsResourceExhausted(made.status())) maker.discard().IgnoreError();  // the next open removes a leftover
  return made.status();
}

}  // namespace coordkit::log
