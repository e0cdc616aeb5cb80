// Opening a log. Before anything is acknowledged, the recovered tail is carried over into a new segment. Bytes above the
// durable mark may exist only in the page cache. So they are written again and synced in a file that becomes visible only
// then. A newest segment that is small and undamaged is carried over as a whole and replaced, so restarts do not pile up
// files.
#include <algorithm>

#include "coordkit/error.h"
#include "log/log.h"

namespace coordkit::log {
namespace {

constexpr size_t kRewriteBatchBytes = 1 << 20;

std::vector<DamagedEntry> holes(const std::deque<Slot>& slots) {
  std::vector<DamagedEntry> damaged;
  for (const Slot& slot : slots) {
    if (!slot.entry) damaged.push_back({slot.index, slot.term, slot.content_sum});
  }
  return damaged;
}

// The place from which on the newest segment is rewritten.
DiskPosition carried_from(const Recovery& recovery, uint64_t whole_bytes_max) {
  if (recovery.chain.empty()) return {};
  const bool whole = recovery.newest && recovery.newest_whole && recovery.newest_end - kFirstBatchOffset <= whole_bytes_max;
  return whole ? DiskPosition{recovery.durable.segment, kFirstBatchOffset} : recovery.durable;
}

bool replaces_newest(const Recovery& recovery, DiskPosition from) {
  return recovery.newest && from.offset == kFirstBatchOffset && recovery.newest_whole;
}

bool is_repair(const Slot& slot) { return slot.repaired_at.segment != 0; }

// The entries from `from` on, as the steps of moderately sized batches. The entries that end the log come first, then the
// repairs, then the known facts about peers.
std::vector<LogWrite> carried_steps(const Recovery& recovery, DiskPosition from) {
  std::vector<LogWrite> steps;
  for (const bool repairs : {false, true}) {
    size_t bytes = kRewriteBatchBytes + 1;
    for (const Slot& slot : recovery.slots) {
      if (slot.where() < from || !slot.entry || is_repair(slot) != repairs) continue;
      if (bytes > kRewriteBatchBytes) {
        steps.emplace_back();
        bytes = 0;
      }
      bytes += slot.entry->bytes();
      (repairs ? steps.back().repairs : steps.back().entries).push_back(*slot.entry);
    }
  }
  if (recovery.peers) steps.emplace_back().peers = recovery.peers;
  return steps;
}

}  // namespace

absl::StatusOr<OpenedLog> Log::open(FileSystem& files, const LogOptions& options) {
  absl::StatusOr<Recovery> recovery = recover(files, options.store, options.checkpointed);
  if (!recovery.ok()) return recovery.status();
  OpenedLog opened{.log = std::unique_ptr<Log>(new Log(files, options)),
                   .hard_state = recovery->state.hard_state,
                   .base = recovery->state.base,
                   .damaged = holes(recovery->slots),
                   .peers = recovery->peers.value_or(std::vector<PeerMark>())};
  if (absl::Status status = opened.log->start(*recovery); !status.ok()) return status;
  for (Slot& slot : recovery->slots) {
    if (slot.entry) opened.entries.push_back(*std::move(slot.entry));
  }
  return opened;
}

absl::Status Log::start(const Recovery& recovery) {
  spares_.number_from(recovery.number_max + 1);
  for (const SegmentFile& live : recovery.chain) {
    absl::StatusOr<std::unique_ptr<File>> file = files_.open(file_name(FileUse::Segment, live.segment), OpenMode::Read);
    if (!file.ok()) return file.status();
    segments_[live.segment] = {.capacity = live.bytes, .file = *std::move(file), .header = live.header};
  }
  const DiskPosition from = carried_from(recovery, options_.small_segment_bytes / 2);
  const SegmentHeader header = plan(recovery, from);
  if (absl::Status status = remove_unfinished(recovery); !status.ok()) return status;
  if (absl::Status status = rewrite(recovery, header, from); !status.ok()) return status;
  if (replaces_newest(recovery, from)) {
    const auto replaced = segments_.find(recovery.durable.segment);
    const uint64_t capacity = replaced->second.capacity;
    segments_.erase(replaced);
    spares_.retire(recovery.durable.segment, capacity);
    if (absl::Status status = spares_.take_failure(); !status.ok()) return status;
  }
  return clean_up(recovery);
}

// The header of the new segment, and the state of the log up to where it takes over.
SegmentHeader Log::plan(const Recovery& recovery, DiskPosition from) {
  state_ = recovery.state;
  state_.last = state_.base;
  index_.restart(state_.base.index);
  for (const Slot& slot : recovery.slots) {
    if (slot.at >= from && slot.entry) break;
    const size_t bytes = slot.entry ? slot.record_bytes : 0;
    const EntryIndex::Location location{slot.term, slot.where(), static_cast<uint32_t>(bytes), slot.at.segment};
    slot.entry ? index_.append(location) : index_.append_hole({slot.index, slot.term, slot.content_sum}, location);
    state_.last = {slot.index, slot.term};
  }
  SegmentHeader header{.segment = spares_.take_number(), .format = recovery.format, .store = options_.store};
  if (replaces_newest(recovery, from)) {
    previous_ = recovery.older_previous;
    header.predecessor = recovery.newest->predecessor;
    header.predecessor_end = recovery.newest->predecessor_end;
    state_.truncations = recovery.newest->state.truncations;
    state_.truncated_to = recovery.newest->state.truncated_to;
  } else {
    previous_ = recovery.sure_previous;
    header.predecessor = from.segment;
    header.predecessor_end = from.offset;
  }
  state_.first_segment = index_.empty() ? header.segment : index_.front().home;
  header.state = state_;
  return header;
}

absl::Status Log::rewrite(const Recovery& recovery, SegmentHeader header, DiskPosition from) {
  in_use_.segment = header.segment;
  in_use_.format = next_format_ = header.format;
  in_use_.end = kFirstBatchOffset;
  state_.truncated_to = LogState().truncated_to;
  std::string bytes(kFirstBatchOffset, '\0');
  const auto carry = [&](std::span<const LogWrite> steps) {
    std::vector<Placed> placed;
    const BatchPlace place{.key = key(in_use_.segment),
                           .group = options_.group,
                           .offset = in_use_.end,
                           .durable = in_use_.place(),
                           .format = in_use_.format};
    const std::string batch = encode_batch(place, state_, previous_, steps, placed);
    bytes += batch;
    advance(steps, placed, static_cast<uint32_t>(batch.size()));
  };
  // A copy records the truncation in the same place as its original: the contents of older segments are interpreted by that
  // place.
  if (state_.truncations != recovery.state.truncations) {
    const LogWrite cut{.truncate_after = state_.last.index};
    carry({&cut, 1});
  }
  for (const LogWrite& step : carried_steps(recovery, from)) {
    carry({&step, 1});
    if (bytes.size() > kSegmentBytesMax / 2) return make_error(Reason::Corrupt, "log: an unsynced tail larger than a segment");
  }
  if (in_use_.end != kFirstBatchOffset || !previous_.empty()) carry({});  // a mark: the carried entries are below it
  header.synced_end = in_use_.end;
  const uint64_t room = options_.small_segment_bytes / 2 + kBlockBytes;  // the mark takes no room from new batches
  header.capacity = align_up(std::max<uint64_t>(options_.small_segment_bytes, bytes.size() + room), kBlockBytes);
  bytes.replace(0, kFirstBatchOffset, encode(header, options_.group));

  const std::string filling = file_name(FileUse::Filling, in_use_.segment);
  absl::StatusOr<std::unique_ptr<File>> file = files_.open(filling, OpenMode::CreateNew);
  if (!file.ok()) return file.status();
  absl::Status status = (*file)->pwrite(0, bytes);
  if (status.ok()) status = fill_with_zeros(**file, bytes.size(), header.capacity);
  if (status.ok()) status = (*file)->sync();
  if (status.ok()) status = files_.rename(filling, file_name(FileUse::Segment, in_use_.segment));
  if (status.ok()) status = files_.sync_dir();
  if (!status.ok()) {
    files_.remove(filling).IgnoreError();  // the next try needs the room; the file has its other name if it could not be synced
    return status;
  }
  in_use_.capacity = header.capacity;
  segments_[in_use_.segment] = {.capacity = in_use_.capacity, .file = *std::move(file), .header = header};
  durable_ = in_use_.place();
  first_segment_durable_ = header.state.first_segment;
  mark_due_ = false;
  return absl::OkStatus();
}

// Must come first: the rewrite may need their room.
absl::Status Log::remove_unfinished(const Recovery& recovery) {
  for (const ParsedName& name : recovery.unused) {
    if (name.use != FileUse::Filling) continue;
    if (absl::Status status = files_.remove(file_name(name.use, name.number)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Keeps finished spares that are needed, and removes everything else that is not part of the log.
absl::Status Log::clean_up(const Recovery& recovery) {
  for (const ParsedName& name : recovery.unused) {
    if (name.use == FileUse::Filling) continue;  // removed
    const std::string text = file_name(name.use, name.number);
    if (name.use == FileUse::Spare && spares_.wanted()) {
      absl::StatusOr<std::unique_ptr<File>> file = files_.open(text, OpenMode::Read);
      if (!file.ok()) return file.status();
      absl::StatusOr<uint64_t> size = (*file)->size();
      if (!size.ok()) return size.status();
      if (*size == options_.segment_bytes) {
        spares_.add(name.number, *size);
        continue;
      }
    }
    if (absl::Status status = files_.remove(text); !status.ok()) return status;
  }
  if (absl::Status status = recycle(); !status.ok()) return status;
  return files_.sync_dir();
}

}  // namespace coordkit::log
