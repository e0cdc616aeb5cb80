#include "log/run.h"

#include <algorithm>

#include "base/fixed.h"
#include "base/sums.h"

namespace coordkit::log {
namespace {

constexpr size_t kCountBytes = 4;  // of the entries; then their lines
constexpr size_t kLineBytes = 12;  // length (3), kind (1), content sum (8)
constexpr int kLengthBits = 24;
static_assert(kRunPayloadsMax < size_t{1} << kLengthBits);

size_t table_bytes(size_t entries) { return kCountBytes + entries * kLineBytes; }

}  // namespace

size_t run_length(std::span<const raft::Entry> entries) {
  size_t bytes = 0;
  const auto end = std::ranges::find_if(entries, [&](const raft::Entry& entry) {
    bytes += entry.payload.size();
    return bytes > kRunPayloadsMax || entry.term != entries.front().term;
  });
  return std::max<size_t>(1, static_cast<size_t>(end - entries.begin()));
}

Record run_record(std::span<const raft::Entry> entries, std::string& payload) {
  payload.clear();
  append_u32(payload, static_cast<uint32_t>(entries.size()));
  for (const raft::Entry& entry : entries) {
    append_u32(payload, static_cast<uint32_t>(entry.kind) << kLengthBits | static_cast<uint32_t>(entry.payload.size()));
    append_u64(payload, entry.content_sum);
  }
  for (const raft::Entry& entry : entries) payload.append(entry.payload.view());
  return {.kind = RecordKind::Run, .term = entries.front().term, .index = entries.front().index, .payload = payload};
}

std::string_view table_of_run(std::string_view payload) {
  if (payload.size() < kCountBytes) return {};
  const uint64_t bytes = table_bytes(load_u32(payload.data()));
  return bytes <= payload.size() ? payload.substr(0, bytes) : std::string_view();
}

void append_entries(const Record& run, std::vector<Record>& entries) {
  if (!run.payload_intact) return;
  const std::string_view table = table_of_run(run.payload);
  std::string_view payloads = run.payload.substr(table.size());
  Index index = run.index;
  for (size_t at = kCountBytes; at < table.size(); at += kLineBytes, index = index.next()) {
    Record entry = run;
    entry.kind = RecordKind::Entry;
    const uint32_t line = load_u32(&table[at]);
    entry.detail = static_cast<uint8_t>(line >> kLengthBits);
    entry.index = index;
    entry.content_sum = load_u64(&table[at + 4]);
    entry.payload = payloads.substr(0, line & ((1u << kLengthBits) - 1));
    entry.run_bytes = static_cast<uint32_t>(run.bytes());
    const auto kind = static_cast<raft::EntryKind>(entry.detail);
    entry.payload_intact = entry.content_sum == content_sum(entry.group, entry.term, entry.index, kind, entry.payload);
    entries.push_back(entry);
    payloads.remove_prefix(entry.payload.size());
  }
}

}  // namespace coordkit::log
