#include "log/log.h"

#include <algorithm>

#include "base/check.h"
#include "base/sums.h"
#include "coordkit/error.h"
#include "log/peer_marks_record.h"

namespace coordkit::log {
namespace {

absl::Status misuse(std::string what) { return make_error(Reason::InvalidArgument, "log: " + std::move(what)); }

// The room that a batch leaves for marks after it. So compaction can always be made durable and free a segment, even when
// there is no space for another one.
size_t mark_reserve(std::span<const LogWrite> steps) {
  constexpr size_t kMarks = 4;
  size_t entries = 0;
  for (const LogWrite& step : steps) entries += step.entries.size();
  return batch_bytes_bound({}, entries) + (kMarks - 1) * kBlockBytes;
}

absl::Status not_intact(const raft::Entry& entry) {
  return make_error(Reason::Corrupt, "entry " + std::to_string(entry.index.value()) + " does not match its content sum");
}

absl::Status rotten(Index index) {
  return make_error(Reason::Corrupt, "entry " + std::to_string(index.value()) + " is rotten on this disk");
}

}  // namespace

absl::Status Log::final_failure(absl::Status status) {
  if (!status.ok() && failure_.ok()) failure_ = status;
  return status;
}

uint64_t Log::bytes_on_disk() const {
  uint64_t bytes = spares_.bytes();
  for (const auto& [number, segment] : segments_) bytes += segment.capacity;
  return bytes;
}

Position Log::position_of(Index index) const {
  return index <= state_.base.index ? state_.base : Position{index, index_[index].term};
}

// Rejects bad input. After this check the steps continue the log, and every payload matches its proposer's sum.
absl::Status Log::check(std::span<const LogWrite> steps) const {
  Index base = state_.base.index;
  Index last = state_.last.index;
  for (const LogWrite& step : steps) {
    if (step.peers && step.peers->size() > kPeerMarksMax) return misuse("more marks of peers than kPeerMarksMax");
    if (step.reset_to) base = last = step.reset_to->index;
    if (const auto& keep = step.truncate_after) {
      if (*keep < base || *keep > last) return misuse("a truncation outside of the log");
      last = *keep;
    }
    for (const raft::Entry& entry : step.entries) {
      if (entry.index != last.next()) return misuse("entries with a gap");
      if (!content_intact(options_.group, entry)) return not_intact(entry);
      last = entry.index;
    }
    for (const raft::Entry& entry : step.repairs) {
      if (!content_intact(options_.group, entry)) return not_intact(entry);
    }
  }
  return absl::OkStatus();
}

// Drops repairs of entries that are not holes, or will no longer be holes when the previous steps are done.
absl::Status Log::keep_needed_repairs(std::span<LogWrite> steps) const {
  Index sure = state_.last.index;  // these steps do not truncate up to here
  for (LogWrite& step : steps) {
    if (step.reset_to) sure = Index();
    if (step.truncate_after) sure = std::min(sure, *step.truncate_after);
    std::erase_if(step.repairs, [&](const raft::Entry& entry) { return entry.index > sure || !index_.hole(entry.index); });
    for (const raft::Entry& entry : step.repairs) {
      const DamagedEntry& known = *index_.hole(entry.index);
      const bool same_term = !known.term || known.term == entry.term;
      const bool same_sum = known.content_sum == 0 || known.content_sum == entry.content_sum;
      if (!same_term || !same_sum) return misuse("a repair with another entry than the one that was lost");
    }
  }
  return absl::OkStatus();
}

absl::Status Log::append(std::span<const LogWrite> steps) {
  if (!failure_.ok()) return failure_;
  if (absl::Status status = check(steps); !status.ok()) return final_failure(status);
  for (const LogWrite& step : steps) {
    if (step.feature_level >= kSecondFormatLevel) next_format_ = 2;
  }
  if (std::ranges::all_of(steps, [](const LogWrite& step) { return step.repairs.empty(); })) return write_batch(steps);
  std::vector<LogWrite> needed(steps.begin(), steps.end());
  if (absl::Status status = keep_needed_repairs(needed); !status.ok()) return final_failure(status);
  return write_batch(needed);
}

bool Log::fits(std::span<const LogWrite> steps) const {
  const size_t bound = batch_bytes_bound(steps, previous_.size());
  return bound + (steps.empty() ? 0 : mark_reserve(steps)) <= bytes_left();
}

absl::Status Log::write_batch(std::span<const LogWrite> steps) {
  const size_t bound = batch_bytes_bound(steps, previous_.size());
  if (bound > kSegmentBytesMax / 2) return final_failure(misuse("a write too large for a segment"));
  if (!fits(steps)) {
    if (absl::Status status = roll(bound + peers_.batch_bytes() + mark_reserve(steps)); !status.ok()) return status;
  }
  const bool has_peers = std::ranges::any_of(steps, [](const LogWrite& step) { return step.peers.has_value(); });
  if (has_peers || !peers_.missing_in(in_use_.segment)) return fill(steps);
  std::vector<LogWrite> with_peers(steps.begin(), steps.end());  // the first batch of a segment
  with_peers.emplace_back().peers = peers_.marks();
  absl::Status status = fill(with_peers);
  mark_due_ = mark_due_ && !steps.empty();
  return status;
}

absl::Status Log::fill(std::span<const LogWrite> steps) {
  std::vector<Placed> placed;
  const BatchPlace place{.key = key(in_use_.segment),
                         .group = options_.group,
                         .offset = in_use_.end,
                         .durable = durable_,
                         .format = in_use_.format};
  const std::string bytes = encode_batch(place, state_, previous_, steps, placed);
  if (absl::Status status = segments_[in_use_.segment].file->pwrite(in_use_.end, bytes); !status.ok())
    return final_failure(status);
  bytes_written_ += bytes.size();
  advance(steps, placed, static_cast<uint32_t>(bytes.size()));
  return absl::OkStatus();
}

// Applies the batch to the state in memory; Replay::batch() is its mirror.
void Log::advance(std::span<const LogWrite> steps, std::span<const Placed> placed, uint32_t batch_bytes) {
  previous_.clear();
  const Placed* next = placed.data();
  for (const LogWrite& step : steps) {
    if (step.hard_state) state_.hard_state = *step.hard_state;
    if (step.reset_to) {
      index_.restart(step.reset_to->index);
      previous_.clear();
      state_.base = state_.last = *step.reset_to;
      ++state_.truncations;
      state_.truncated_to = std::min(state_.truncated_to, step.reset_to->index);
    }
    if (step.truncate_after) truncate(*step.truncate_after);
    for (const raft::Entry& entry : step.entries) {
      index_.append({entry.term, {in_use_.segment, next->offset}, next->bytes, in_use_.segment});
      previous_.push_back({entry.index, entry.term, entry.content_sum});
      state_.last = entry.position();
      ++next;
    }
    for (const raft::Entry& entry : step.repairs) {
      index_.repair(entry.index, entry.term, {in_use_.segment, next->offset}, next->bytes);
      if (entry.index == state_.last.index) state_.last.term = entry.term;
      ++next;
    }
    if (step.peers) peers_.written(step.peers, in_use_.segment);
  }
  in_use_.end += batch_bytes;
  mark_due_ = !steps.empty();
}

void Log::truncate(Index keep) {
  index_.truncate(keep);
  state_.last = position_of(keep);
  ++state_.truncations;
  state_.truncated_to = std::min(state_.truncated_to, keep);
  std::erase_if(previous_, [keep](const Identity& identity) { return identity.index > keep; });
}

absl::Status Log::sync() {
  if (!failure_.ok()) return failure_;
  const absl::Status status = segments_[in_use_.segment].file->sync();
  if (!status.ok()) return final_failure(status);
  durable_ = in_use_.place();
  first_segment_durable_ = state_.first_segment;
  return final_failure(recycle());
}

absl::StatusOr<std::vector<raft::Entry>> Log::read(Index first, Index last, size_t bytes_max) {
  if (!failure_.ok()) return failure_;
  last = std::min(last, state_.last.index);
  if (first <= state_.base.index || first > last) {
    return absl::OutOfRangeError("entry " + std::to_string(first.value()) + " is not in the log");
  }
  std::vector<raft::Entry> entries;
  RecordReader reader;
  size_t bytes = 0;
  for (Index index = first; index <= last; index = index.next()) {
    absl::StatusOr<raft::Entry> entry = read_one(index, reader);
    if (!entry.ok()) return entry.status();
    bytes += record_bytes(entry->payload.size());
    if (bytes > bytes_max && !entries.empty()) break;
    entries.push_back(*std::move(entry));
  }
  return entries;
}

absl::StatusOr<raft::Entry> Log::read_one(Index index, RecordReader& reader) const {
  const EntryIndex::Location& location = index_[index];
  if (location.bytes == 0) return rotten(index);
  const Segment& segment = segments_.at(location.at.segment);
  if (absl::Status status = reader.load(*segment.file, key(location.at.segment), location); !status.ok()) return status;
  std::optional<raft::Entry> entry = reader.entry(index);
  return entry ? absl::StatusOr<raft::Entry>(*std::move(entry)) : rotten(index);
}

std::optional<DiskRange> Log::place(Index index) const {
  RecordReader reader;
  if (!index_.contains(index) || !read_one(index, reader).ok()) return std::nullopt;
  return reader.own_bytes(index);
}

absl::Status Log::compact(Position through) {
  if (!failure_.ok()) return failure_;
  if (through.index <= state_.base.index) return absl::OkStatus();
  if (through.index > state_.last.index) return final_failure(misuse("compaction beyond the end"));
  index_.compact(through.index);
  state_.base = through;
  state_.first_segment = index_.empty() ? in_use_.segment : index_.front().home;
  COORDKIT_CHECK_MSG(index_.empty() || state_.first_segment <= index_.front().home, "INV_S01");
  mark_due_ = true;
  return absl::OkStatus();
}

// Returns the file of the next segment, made on the spot if no spare is ready. Nothing was written to the log yet. A resource
// that the disk or the process lacks just now may be there at the next try.
absl::StatusOr<SpareSegments::Open> Log::next_spare(uint64_t bytes) {
  absl::StatusOr<SpareSegments::Open> spare = spares_.open(bytes);
  if (!spare.ok() || spare->file) return spare;
  if (absl::Status made = spares_.make(bytes); !made.ok()) return may_retry(made) ? made : final_failure(std::move(made));
  spare = spares_.open(bytes);
  if (!spare.ok() || spare->file) return spare;
  return until_it_passes(absl::DataLossError("the file that was just made for it is not there"));
}

// A file with the header of the next segment, durable, that is still named a spare: recovery passes it over, so an error of it
// leaves nothing in doubt. One whose sync failed is never used.
absl::StatusOr<Log::Segment> Log::next_segment(uint64_t bytes, uint32_t& spare_number) {
  constexpr int kTries = 3;
  absl::Status status;
  for (int i = 0; i < kTries; ++i) {
    absl::StatusOr<SpareSegments::Open> spare = next_spare(bytes);
    if (!spare.ok()) return spare.status();
    const SegmentHeader header{.segment = spares_.take_number(),
                               .format = next_format_,
                               .store = options_.store,
                               .capacity = spare->capacity,
                               .predecessor = in_use_.segment,
                               .predecessor_end = in_use_.end,
                               .state = state_};
    status = spare->file->pwrite(0, encode(header, options_.group));
    bytes_written_ += kFirstBatchOffset;
    if (status.ok()) status = spare->file->sync();
    spare_number = spare->number;
    if (status.ok()) return Segment{.capacity = spare->capacity, .file = std::move(spare->file), .header = header};
    spare->file.reset();
    spares_.drop(spare->number, status);
  }
  return until_it_passes(status);
}

// Opens the next segment. Its header repeats the hard state, so no older segment is the only one to hold it.
absl::Status Log::roll(size_t batch_bytes) {
  if (durable_ != in_use_.place()) {
    if (absl::Status status = sync(); !status.ok()) return status;
  }
  uint32_t spare = 0;
  absl::StatusOr<Segment> next = next_segment(kFirstBatchOffset + batch_bytes, spare);
  if (absl::IsUnavailable(next.status()) && spares_.one_more_try() == kSegmentTriesMax) {
    return final_failure(make_error(Reason::StorageFailed, std::string(sentence_of(next.status()))));
  }
  if (!next.ok()) return next.status();
  spares_.tries_over();
  // Every failure from here on is final: the segment may or may not be visible.
  const uint32_t number = next->header->segment;
  absl::Status status = files_.rename(file_name(FileUse::Spare, spare), file_name(FileUse::Segment, number));
  if (status.ok()) status = files_.sync_dir();
  if (!status.ok()) return final_failure(status);
  in_use_.segment = number;
  in_use_.format = next_format_;
  in_use_.capacity = next->capacity;
  segments_[number] = *std::move(next);
  in_use_.end = kFirstBatchOffset;
  durable_ = in_use_.place();
  first_segment_durable_ = state_.first_segment;
  state_.truncated_to = LogState().truncated_to;
  spares_.forget(spare);
  return absl::OkStatus();
}

// Renames segments older than a durable batch states to spares, oldest first. They are never read again.
absl::Status Log::recycle() {
  bool changed = false;
  while (!segments_.empty() && segments_.begin()->first < std::min(first_segment_durable_, in_use_.segment)) {
    const uint32_t segment = segments_.begin()->first;
    const uint64_t capacity = segments_.begin()->second.capacity;
    segments_.erase(segments_.begin());
    spares_.retire(segment, capacity);
    changed = true;
  }
  return changed ? files_.sync_dir() : absl::OkStatus();
}

}  // namespace coordkit::log
