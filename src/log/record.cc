#include "log/record.h"

#include <algorithm>

#include "base/fixed.h"
#include "base/sums.h"
#include "log/run.h"

namespace coordkit::log {
namespace {

constexpr size_t kSummedBytes = 48;  // of the header; then follows the header sum

uint64_t header_sum(std::string_view header, const RecordKey& key, uint32_t offset) {
  const uint64_t place = hash_mix(hash_mix(key.store.value(), key.segment), offset);
  return hash_bytes(header.substr(0, kSummedBytes), place);
}

// The content sum of all records except entries, which have their proposer's sum.
uint64_t own_sum(const Record& record) {
  return hash_bytes(record.kind == RecordKind::Run ? table_of_run(record.payload) : record.payload);
}

std::string joined_payload(const Record& record) {
  const size_t at = std::min<size_t>(record.shared_at, record.payload.size());
  std::string whole(record.payload.substr(0, at));
  return whole.append(record.shared).append(record.payload.substr(at));
}

}  // namespace

bool content_verifies(const Record& record) {
  if (!holds_entry(record.kind)) return record.content_sum == own_sum(record);
  const auto sum_of = [&record](std::string_view payload) {
    return content_sum(record.group, record.term, record.index, static_cast<raft::EntryKind>(record.detail), payload);
  };
  return record.content_sum == (record.shared.empty() ? sum_of(record.payload) : sum_of(joined_payload(record)));
}

void append_record(std::string& out, const Record& record, const RecordKey& key, uint32_t offset) {
  char header[kRecordHeaderBytes] = {};
  store_u32(header, static_cast<uint32_t>(record.payload.size()));
  header[4] = static_cast<char>(record.kind);
  header[5] = static_cast<char>(record.detail);
  store_u64(header + 8, record.group.value());
  store_u64(header + 16, record.term.value());
  store_u64(header + 24, record.index.value());
  store_u32(header + 32, record.mark.offset);
  store_u32(header + 36, record.mark.segment);
  store_u64(header + 40, holds_entry(record.kind) ? record.content_sum : own_sum(record));
  store_u64(header + 48, header_sum({header, sizeof header}, key, offset));
  const size_t end = out.size() + record.bytes();
  out.append(header, sizeof header);
  out.append(record.payload);
  out.resize(end);
}

std::optional<Record> parse_record(std::string_view bytes, size_t at, const RecordKey& key, uint32_t origin) {
  if (at > bytes.size() || bytes.size() - at < kRecordHeaderBytes) return std::nullopt;
  const std::string_view header = bytes.substr(at, kRecordHeaderBytes);
  const auto offset = static_cast<uint32_t>(origin + at);
  const auto kind = static_cast<uint8_t>(header[4]);
  if (kind == 0 || kind > static_cast<uint8_t>(RecordKind::Run)) return std::nullopt;
  if (load_u64(header.data() + 48) != header_sum(header, key, offset)) return std::nullopt;
  const uint32_t length = load_u32(header.data());
  if (length > bytes.size() - at - kRecordHeaderBytes) return std::nullopt;
  Record record{
      .kind = static_cast<RecordKind>(kind),
      .detail = static_cast<uint8_t>(header[5]),
      .group = GroupId(load_u64(header.data() + 8)),
      .term = Term(load_u64(header.data() + 16)),
      .index = Index(load_u64(header.data() + 24)),
      .mark = {.segment = load_u32(header.data() + 36), .offset = load_u32(header.data() + 32)},
      .content_sum = load_u64(header.data() + 40),
      .payload = bytes.substr(at + kRecordHeaderBytes, length),
      .offset = offset,
  };
  record.payload_intact = content_verifies(record);
  return record;
}

raft::Entry entry_of(const Record& record) {
  return {.index = record.index,
          .term = record.term,
          .kind = static_cast<raft::EntryKind>(record.detail),
          .content_sum = record.content_sum,
          .payload = record.shared.empty() ? SharedBytes(record.payload) : SharedBytes(joined_payload(record))};
}

}  // namespace coordkit::log
