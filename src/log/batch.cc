#include "log/batch.h"

#include <algorithm>
#include <cstring>

#include "base/fixed.h"
#include "log/peer_marks_record.h"
#include "log/run.h"

namespace coordkit::log {
namespace {

constexpr size_t kMarkFixedBytes = 16 + kLogStateBytes;

Record entry_record(RecordKind kind, const raft::Entry& entry) {
  return {.kind = kind,
          .detail = static_cast<uint8_t>(entry.kind),
          .term = entry.term,
          .index = entry.index,
          .content_sum = entry.content_sum,
          .payload = entry.payload.view()};
}

// Writes the records of one batch one after the other and counts them.
class BatchWriter {
 public:
  BatchWriter(const BatchPlace& place, std::string& out) : place_(place), out_(out) {}

  // Returns its place. A run counts as many records as it has entries.
  Placed add(Record record, size_t count = 1) {
    record.group = place_.group;
    record.mark = place_.durable;
    const auto offset = static_cast<uint32_t>(place_.offset + out_.size());
    append_record(out_, record, place_.key, offset);
    records_ += static_cast<uint32_t>(count);
    return {record.index, record.term, offset, static_cast<uint32_t>(record.bytes())};
  }
  // Adds the entries of a step and records the place of each.
  void add_entries(std::span<const raft::Entry> entries, std::vector<Placed>& placed) {
    while (!entries.empty()) {
      const size_t length = place_.format < 2 ? 1 : run_length(entries);
      const raft::Entry& first = entries.front();
      const bool run = length > 1;
      Placed at = add(run ? run_record(entries.first(length), run_) : entry_record(RecordKind::Entry, first), length);
      for (; at.index < first.index + length; at.index = at.index.next()) placed.push_back(at);
      entries = entries.subspan(length);
    }
  }
  void next_block() { out_.resize(align_up(out_.size(), kBlockBytes)); }
  uint32_t records() const { return records_; }

 private:
  const BatchPlace& place_;
  std::string& out_;
  std::string run_;  // a run's payload while it is written
  uint32_t records_ = 0;
};

std::optional<raft::HardState> final_hard_state(std::span<const LogWrite> steps) {
  std::optional<raft::HardState> result;
  for (const LogWrite& step : steps) {
    if (step.hard_state) result = step.hard_state;
  }
  return result;
}

Record hard_state_record(const raft::HardState& hard_state) {
  return {.kind = RecordKind::HardState, .term = hard_state.term, .index = Index(hard_state.vote.value())};
}

void add_step(BatchWriter& writer, const LogWrite& step, std::vector<Placed>& placed) {
  if (step.reset_to) {
    writer.add({.kind = RecordKind::TruncateTo,
                .detail = static_cast<uint8_t>(TruncateDetail::Reset),
                .term = step.reset_to->term,
                .index = step.reset_to->index});
  }
  if (step.truncate_after) writer.add({.kind = RecordKind::TruncateTo, .index = *step.truncate_after});
  writer.add_entries(step.entries, placed);
  for (const raft::Entry& entry : step.repairs) {
    placed.push_back(writer.add(entry_record(RecordKind::Repair, entry)));
  }
  if (step.peers) {
    const std::string marks = encode(*step.peers);
    writer.add({.kind = RecordKind::Peers, .payload = marks});
  }
}

}  // namespace

void append_state(std::string& out, const LogState& state) {
  append_u64(out, state.hard_state.term.value());
  append_u64(out, state.hard_state.vote.value());
  append_u64(out, state.base.index.value());
  append_u64(out, state.base.term.value());
  append_u64(out, state.last.index.value());
  append_u64(out, state.last.term.value());
  append_u64(out, state.truncations);
  append_u64(out, state.truncated_to.value());
  append_u32(out, state.first_segment);
  append_u32(out, 0);
}

LogState load_state(const char* at) {
  return {.hard_state = {Term(load_u64(at)), ReplicaId(load_u64(at + 8))},
          .base = {Index(load_u64(at + 16)), Term(load_u64(at + 24))},
          .last = {Index(load_u64(at + 32)), Term(load_u64(at + 40))},
          .truncations = load_u64(at + 48),
          .truncated_to = Index(load_u64(at + 56)),
          .first_segment = load_u32(at + 64)};
}

std::string encode(const Mark& mark, uint32_t format) {
  const Names names = shorter_names(mark.previous, format);
  std::string out;
  out.reserve(kMarkFixedBytes + bytes_as(names, mark.previous));
  append_u32(out, mark.batch_bytes);
  append_u32(out, mark.records);
  append_u32(out, static_cast<uint32_t>(mark.previous.size()));
  append_u32(out, static_cast<uint32_t>(names));
  append_state(out, mark.state);
  append_as(names, mark.previous, out);
  return out;
}

std::optional<Mark> decode_mark(std::string_view payload) {
  if (payload.size() < kMarkFixedBytes) return std::nullopt;
  Mark mark{.batch_bytes = load_u32(payload.data()),
            .records = load_u32(payload.data() + 4),
            .state = load_state(payload.data() + 16)};
  const size_t count = load_u32(payload.data() + 8);
  const auto names = static_cast<Names>(load_u32(payload.data() + 12));
  payload.remove_prefix(kMarkFixedBytes);
  if (!load_as(names, payload, count, mark.previous)) return std::nullopt;
  return mark;
}

size_t batch_bytes_bound(std::span<const LogWrite> steps, size_t previous) {
  size_t bytes = record_bytes(kMarkFixedBytes + previous * kIdentityBytes);
  if (final_hard_state(steps)) bytes += 2 * kRecordHeaderBytes + kBlockBytes;
  for (const LogWrite& step : steps) {
    bytes += 2 * kRecordHeaderBytes;
    for (const raft::Entry& entry : step.entries) bytes += record_bytes(entry.payload.size());
    for (const raft::Entry& entry : step.repairs) bytes += record_bytes(entry.payload.size());
    if (step.peers) bytes += record_bytes(step.peers->size() * kPeerMarkBytes);
  }
  return align_up(bytes, kBlockBytes);
}

size_t mark_batch_bytes(std::span<const Identity> previous, uint32_t format) {
  const size_t payload = kMarkFixedBytes + bytes_as(shorter_names(previous, format), previous);
  return align_up(record_bytes(payload), kBlockBytes);
}

std::string encode_batch(const BatchPlace& place, const LogState& state, std::span<const Identity> previous,
                         std::span<const LogWrite> steps, std::vector<Placed>& placed) {
  std::string mark = encode({.state = state, .previous = {previous.begin(), previous.end()}}, place.format);
  std::string out;
  out.reserve(batch_bytes_bound(steps, previous.size()));
  out.resize(record_bytes(mark.size()));  // written last, when its length is known

  BatchWriter writer(place, out);
  const std::optional<raft::HardState> hard_state = final_hard_state(steps);
  const size_t first_copy = out.size();
  if (hard_state) writer.add(hard_state_record(*hard_state));
  for (const LogWrite& step : steps) add_step(writer, step, placed);
  if (hard_state) {
    if (out.size() / kBlockBytes == first_copy / kBlockBytes) writer.next_block();
    writer.add(hard_state_record(*hard_state));
  }
  writer.next_block();

  store_u32(mark.data(), static_cast<uint32_t>(out.size()));
  store_u32(mark.data() + 4, writer.records() + 1);
  std::string first;
  append_record(first,
                {.kind = RecordKind::Mark,
                 .group = place.group,
                 .term = state.last.term,
                 .index = state.last.index,
                 .mark = place.durable,
                 .payload = mark},
                place.key, place.offset);
  out.replace(0, first.size(), first);
  return out;
}

std::optional<FoundBatch> find_batch(std::string_view segment, size_t offset, const RecordKey& key) {
  const std::optional<Record> record = parse_record(segment, offset, key);
  if (!record || record->kind != RecordKind::Mark || !record->payload_intact) return std::nullopt;
  std::optional<Mark> mark = decode_mark(record->payload);
  if (!mark || mark->batch_bytes < record->bytes() || mark->batch_bytes % kBlockBytes != 0) return std::nullopt;
  if (mark->batch_bytes > segment.size() - offset) return std::nullopt;
  return FoundBatch{.offset = static_cast<uint32_t>(offset), .durable = record->mark, .mark = *std::move(mark)};
}

std::vector<Record> find_records(std::string_view segment, size_t first, size_t end, const RecordKey& key) {
  std::vector<Record> found;
  size_t at = first;
  while (at + kRecordHeaderBytes <= end) {
    if (std::optional<Record> record = parse_record(segment.substr(0, end), at, key)) {
      at += record->bytes();
      record->kind == RecordKind::Run ? append_entries(*record, found) : found.push_back(*record);
      continue;
    }
    // Zeros up to the next block are padding. Anything else is a lost record, and the next record is at some multiple of
    // eight bytes.
    const size_t next = std::min(align_up(at + 1, kBlockBytes), end);
    const bool padding = segment[at] == '\0' && std::memcmp(&segment[at], &segment[at] + 1, next - at - 1) == 0;
    at = padding ? next : at + kRecordAlignment;
  }
  return found;
}

}  // namespace coordkit::log
