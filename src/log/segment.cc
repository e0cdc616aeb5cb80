#include "log/segment.h"

#include <algorithm>
#include <charconv>

#include "base/fixed.h"

namespace coordkit::log {
namespace {

constexpr std::string_view kMagic = "coordlog";
constexpr size_t kPrefixBytes = 16;  // magic, format version, zero: read before any sum can be checked

// The place of the header's record in a block. Builds that read only version 1 find none in version 2. Then they look at the
// version and report it.
constexpr size_t header_at(uint32_t format) { return format == 1 ? kPrefixBytes : kPrefixBytes + 8; }
constexpr size_t kHeaderPayloadBytes = 24 + kLogStateBytes;
constexpr uint64_t kFillBytes = 256 << 10;
constexpr size_t kNameDigits = 8;

std::string_view suffix(FileUse use) {
  switch (use) {
    case FileUse::Segment: return ".seg";
    case FileUse::Spare: return ".spare";
    case FileUse::Filling: return ".fill";
  }
  return "";
}

std::optional<SegmentHeader> find_copy(std::string_view segment, size_t block, uint32_t format, const RecordKey& key) {
  const std::optional<Record> record = parse_record(segment, block + header_at(format), key);
  if (!record || record->kind != RecordKind::SegmentHeader || !record->payload_intact) return std::nullopt;
  if (record->payload.size() != kHeaderPayloadBytes) return std::nullopt;
  const char* at = record->payload.data();
  return SegmentHeader{.segment = load_u32(at),
                       .format = format,
                       .store = key.store,
                       .capacity = load_u64(at + 8),
                       .predecessor = load_u32(at + 16),
                       .predecessor_end = load_u32(at + 20),
                       .synced_end = record->mark.offset,
                       .state = load_state(at + 24)};
}

bool newer_format(std::string_view segment, size_t block) {
  if (segment.size() < block + kPrefixBytes || segment.substr(block, kMagic.size()) != kMagic) return false;
  return load_u32(segment.data() + block + kMagic.size()) > kFormatVersion;
}

}  // namespace

std::string encode(const SegmentHeader& header, GroupId group) {
  std::string payload;
  append_u32(payload, header.segment);
  append_u32(payload, 0);
  append_u64(payload, header.capacity);
  append_u32(payload, header.predecessor);
  append_u32(payload, header.predecessor_end);
  append_state(payload, header.state);

  std::string out;
  for (const size_t block : {size_t{0}, kBlockBytes}) {
    out.resize(block);
    out.append(kMagic);
    append_u32(out, header.format);
    out.resize(block + header_at(header.format));
    append_record(out,
                  {.kind = RecordKind::SegmentHeader,
                   .group = group,
                   .term = header.state.last.term,
                   .index = header.state.last.index,
                   .mark = {header.segment, header.synced_end},
                   .payload = payload},
                  {header.store, header.segment}, static_cast<uint32_t>(out.size()));
  }
  out.resize(kFirstBatchOffset);
  return out;
}

FoundHeader find_header(std::string_view segment, const RecordKey& key) {
  for (const size_t block : {size_t{0}, kBlockBytes}) {
    for (uint32_t format = 1; format <= kFormatVersion; ++format) {
      if (std::optional<SegmentHeader> header = find_copy(segment, block, format, key)) return {header, HeaderFault::None};
    }
  }
  const bool newer = newer_format(segment, 0) && newer_format(segment, kBlockBytes);
  return {std::nullopt, newer ? HeaderFault::NewerFormat : HeaderFault::Unreadable};
}

std::vector<uint32_t> spoiled_copies(std::string_view segment, const SegmentHeader& header) {
  std::vector<uint32_t> spoiled;
  for (const uint32_t block : {uint32_t{0}, static_cast<uint32_t>(kBlockBytes)}) {
    const bool begins = segment.size() >= block + kPrefixBytes && segment.substr(block, kMagic.size()) == kMagic &&
                        load_u32(segment.data() + block + kMagic.size()) == header.format;
    if (!begins || !find_copy(segment, block, header.format, {header.store, header.segment})) spoiled.push_back(block);
  }
  return spoiled;
}

std::string file_name(FileUse use, uint32_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name(kNameDigits, '0');
  for (size_t i = kNameDigits; number != 0; number >>= 4) name[--i] = kDigits[number & 15];
  return name.append(suffix(use));
}

std::optional<ParsedName> parse_name(std::string_view name) {
  if (name.size() < kNameDigits) return std::nullopt;
  ParsedName parsed;
  std::from_chars(name.data(), name.data() + kNameDigits, parsed.number, 16);
  for (const FileUse use : {FileUse::Segment, FileUse::Spare, FileUse::Filling}) {
    parsed.use = use;
    if (parsed.number != 0 && parsed.number <= kSegmentNumberMax && name == file_name(use, parsed.number)) return parsed;
  }
  return std::nullopt;
}

absl::Status fill_with_zeros(File& file, uint64_t first, uint64_t end) {
  const std::string zeros(std::min(kFillBytes, end - first), '\0');
  for (uint64_t at = first; at < end; at += zeros.size()) {
    const uint64_t size = std::min<uint64_t>(zeros.size(), end - at);
    if (absl::Status status = file.pwrite(at, std::string_view(zeros).substr(0, size)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SpareMaker::step(uint64_t bytes) {
  if (!file_) {
    absl::StatusOr<std::unique_ptr<File>> file = files_.open(file_name(FileUse::Filling, number_), OpenMode::CreateNew);
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
  }
  const uint64_t end = std::min(capacity_, written_ + bytes);
  if (absl::Status status = fill_with_zeros(*file_, written_, end); !status.ok()) return status;
  if (absl::Status status = file_->sync(); !status.ok()) return status;
  written_ = end;
  if (written_ < capacity_) return false;
  file_.reset();
  absl::Status status = files_.rename(file_name(FileUse::Filling, number_), file_name(FileUse::Spare, number_));
  if (!status.ok()) return status;
  status = files_.sync_dir();
  directory_failed_ = !status.ok();
  if (directory_failed_) return status;
  return true;
}

absl::Status SpareMaker::discard() {
  file_.reset();
  written_ = 0;
  return files_.remove(file_name(FileUse::Filling, number_));
}

}  // namespace coordkit::log
