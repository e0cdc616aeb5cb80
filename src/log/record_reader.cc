#include "log/record_reader.h"

#include <utility>

#include "log/run.h"

namespace coordkit::log {

absl::Status RecordReader::load(const File& file, const RecordKey& key, const EntryIndex::Location& location) {
  if (at_ == location.at) return absl::OkStatus();
  absl::StatusOr<std::string> bytes = file.pread(location.at.offset, location.bytes);
  if (!bytes.ok()) return bytes.status();
  at_ = location.at;
  bytes_ = *std::move(bytes);
  bytes_read_ += location.bytes;
  entries_.clear();
  const std::optional<Record> record = parse_record(bytes_, 0, key, location.at.offset);
  if (!record) return absl::OkStatus();
  if (record->kind == RecordKind::Run) append_entries(*record, entries_);
  if (holds_entry(record->kind)) entries_.push_back(*record);
  return absl::OkStatus();
}

const Record* RecordReader::find(Index index) const {
  if (entries_.empty() || index < entries_.front().index || index > entries_.back().index) return nullptr;
  return &entries_[index - entries_.front().index];
}

std::optional<raft::Entry> RecordReader::entry(Index index) const {
  const Record* found = find(index);
  return found != nullptr && found->payload_intact ? std::optional(entry_of(*found)) : std::nullopt;
}

std::optional<DiskRange> RecordReader::own_bytes(Index index) const {
  const Record* found = find(index);
  if (found == nullptr) return std::nullopt;
  if (found->run_bytes == 0) return DiskRange{at_, kRecordHeaderBytes};
  if (found->payload.empty()) return std::nullopt;
  const auto payload_at = static_cast<uint32_t>(found->payload.data() - bytes_.data());
  return DiskRange{{at_.segment, at_.offset + payload_at}, static_cast<uint32_t>(found->payload.size())};
}

}  // namespace coordkit::log
