#include "log/run.h"

#include <algorithm>

#include "base/fixed.h"
#include "base/sums.h"

namespace coordkit::log {
namespace {

// The table has the number of entries (4) and the length (3) and place (1) of the bytes that their payloads share. Then
// follow those bytes, and a line for each entry. A line has the length of the payload's own part (3), its kind (1) and its
// content sum (8).
constexpr size_t kCountsBytes = 8;
constexpr int kLengthBits = 24;
constexpr uint32_t kLengthMask = (1u << kLengthBits) - 1;
static_assert(kRunPayloadsMax < size_t{1} << kLengthBits);
constexpr uint8_t kSharedAtMax = 3;  // after the kind of a command and its length

// The bytes that all payloads have from that place on.
struct Shared {
  std::string_view bytes;
  uint8_t at = 0;
};

// Empty unless more than `longer_than` bytes are shared.
std::string_view shared_from(size_t at, std::span<const raft::Entry> entries, size_t longer_than) {
  const auto rest_of = [at](std::string_view payload) { return payload.substr(std::min(at, payload.size())); };
  std::string_view shared = rest_of(entries.front().payload.view());
  for (const raft::Entry& entry : entries) {
    const std::string_view rest = rest_of(entry.payload.view());
    if (!rest.starts_with(shared)) {
      shared = shared.substr(0, static_cast<size_t>(std::ranges::mismatch(shared, rest).in1 - shared.begin()));
    }
    if (shared.size() <= longer_than) return {};
  }
  return shared;
}

Shared shared_by(std::span<const raft::Entry> entries) {
  Shared best;
  for (uint8_t at = 0; at <= kSharedAtMax; ++at) {
    const std::string_view bytes = shared_from(at, entries, best.bytes.size());
    if (!bytes.empty()) best = {bytes, at};
  }
  return best;
}

}  // namespace

size_t run_length(std::span<const raft::Entry> entries) {
  const raft::Entry& first = entries.front();
  size_t length = 0, bytes = 0;
  for (const raft::Entry& entry : entries) {
    bytes += entry.payload.size();
    const bool follows = entry.term == first.term && entry.index == first.index + length;
    if (!follows || bytes > kRunPayloadsMax) break;
    ++length;
  }
  return std::max<size_t>(1, length);
}

Record run_record(std::span<const raft::Entry> entries, std::string& payload) {
  const Shared shared = shared_by(entries);
  payload.clear();
  append_u32(payload, static_cast<uint32_t>(entries.size()));
  append_u32(payload, static_cast<uint32_t>(shared.at) << kLengthBits | static_cast<uint32_t>(shared.bytes.size()));
  payload.append(shared.bytes);
  for (const raft::Entry& entry : entries) {
    const auto alone = static_cast<uint32_t>(entry.payload.size() - shared.bytes.size());
    char line[kRunLineBytes];
    store_u32(line, static_cast<uint32_t>(entry.kind) << kLengthBits | alone);
    store_u64(line + 4, entry.content_sum);
    payload.append(line, sizeof line);
  }
  for (const raft::Entry& entry : entries) {
    const std::string_view whole = entry.payload.view();
    payload.append(whole.substr(0, shared.at)).append(whole.substr(shared.at + shared.bytes.size()));
  }
  return {.kind = RecordKind::Run, .term = entries.front().term, .index = entries.front().index, .payload = payload};
}

std::string_view table_of_run(std::string_view payload) {
  if (payload.size() < kCountsBytes) return {};
  const uint64_t lines = load_u32(payload.data()), shared = load_u32(payload.data() + 4) & kLengthMask;
  const uint64_t bytes = kCountsBytes + shared + lines * kRunLineBytes;
  return bytes <= payload.size() ? payload.substr(0, bytes) : std::string_view();
}

void append_entries(const Record& run, std::vector<Record>& entries) {
  const std::string_view table = run.payload_intact ? table_of_run(run.payload) : std::string_view();
  if (table.empty()) return;
  std::string_view payloads = run.payload.substr(table.size());
  const uint32_t shared = load_u32(table.data() + 4);
  Record entry = run;
  entry.kind = RecordKind::Entry;
  entry.shared = table.substr(kCountsBytes, shared & kLengthMask);
  entry.shared_at = static_cast<uint8_t>(shared >> kLengthBits);
  entry.run_bytes = static_cast<uint32_t>(run.bytes());
  for (size_t at = kCountsBytes + entry.shared.size(); at < table.size(); at += kRunLineBytes) {
    const uint32_t line = load_u32(&table[at]);
    entry.detail = static_cast<uint8_t>(line >> kLengthBits);
    entry.content_sum = load_u64(&table[at + 4]);
    entry.payload = payloads.substr(0, line & kLengthMask);
    entry.payload_intact = content_verifies(entry);
    entries.push_back(entry);
    payloads.remove_prefix(entry.payload.size());
    entry.index = entry.index.next();
  }
}

}  // namespace coordkit::log
