#include "log/replay.h"

#include <algorithm>

#include "log/peer_marks_record.h"
#include "log/run.h"

namespace coordkit::log {

void Replay::segment(uint32_t number, const LogState& state) {
  segment_ = number;
  enter(state, {});
  state_.truncated_to = LogState().truncated_to;
}

void Replay::segment_unreadable(uint32_t number) {
  segment_ = number;
  segment_missing();
}

void Replay::batch(const Mark& mark, std::span<const Record> records) {
  enter(mark.state, mark.previous);
  previous_.clear();
  lost_ = mark.records - std::min<uint64_t>(mark.records, records.size());
  for (const Record& record : records) apply(record);
}

void Replay::lost(std::span<const Record> records, size_t bytes) {
  lost_ += 1 + bytes / kRunLineBytes;
  previous_.clear();
  for (const Record& record : records) apply(record);
}

// If nothing was lost, the replayed state agrees with the stated one. The exception is a header that cuts a tail that was
// rewritten.
void Replay::enter(const LogState& state, std::span<const Identity> previous) {
  if (end_unknown() && state.truncations != state_.truncations) {
    const Index sure = truncation_unknown_ ? Index() : state.truncated_to;
    for (Slot& slot : slots_) {
      if (slot.index > sure) slot = hole(slot.index);
    }
  }
  if (state.base.index < state_.base.index) slots_.clear();  // the base falls only if a reset was lost
  state_ = state;
  forget_up_to(state.base.index);
  for (const Identity& identity : previous) {
    const bool known = !slots_.empty() && identity.index >= slots_.front().index && identity.index <= last();
    Slot* slot = known ? &slots_[identity.index - slots_.front().index] : nullptr;
    if (slot != nullptr && slot->term == identity.term && slot->content_sum == identity.content_sum) continue;
    if (slot != nullptr && !slot->term && slot->content_sum == 0) {  // a lost record; those after it have verified
      slot->term = identity.term;
      slot->content_sum = identity.content_sum;
      continue;
    }
    Slot missing = hole(identity.index);
    missing.term = identity.term;
    missing.content_sum = identity.content_sum;
    put(std::move(missing));
  }
  truncate(state.last.index);
  extend_with_holes(state.last.index);
  if (!slots_.empty() && slots_.back().term != state.last.term) {
    slots_.back() = hole(state.last.index);
    slots_.back().term = state.last.term;
  }
  lost_ = 0;
  truncation_unknown_ = false;
}

void Replay::apply(const Record& record) {
  switch (record.kind) {
    case RecordKind::Entry: {
      Slot slot{.index = record.index, .term = record.term, .content_sum = record.content_sum, .at = {segment_, record.offset}};
      if (record.payload_intact) slot.entry = entry_of(record);
      slot.record_bytes = record.bytes();
      const Identity identity{slot.index, slot.term, slot.content_sum};
      restart_behind_gap(slot.index);
      put(std::move(slot));
      previous_.push_back(identity);
      break;
    }
    case RecordKind::Repair: repair(record); break;
    case RecordKind::HardState: state_.hard_state = {record.term, ReplicaId(record.index.value())}; break;
    case RecordKind::TruncateTo:
      ++state_.truncations;
      state_.truncated_to = std::min(state_.truncated_to, record.index);
      if (record.detail == static_cast<uint8_t>(TruncateDetail::Reset)) {
        slots_.clear();
        previous_.clear();
        state_.base = {record.index, record.term};
      } else {
        truncate(record.index);
      }
      break;
    case RecordKind::Peers:
      if (auto marks = decode_peer_marks(record.payload); marks && record.payload_intact) peers_ = std::move(marks);
      break;
    case RecordKind::Mark:
    case RecordKind::Run:  // the caller passes its entries instead
    case RecordKind::SegmentHeader: break;
  }
  state_.last = slots_.empty() ? state_.base : Position{slots_.back().index, slots_.back().term};
}

void Replay::put(Slot slot) {
  if (slot.index <= state_.base.index) return;
  truncate(slot.index.previous());
  extend_with_holes(slot.index.previous());
  slots_.push_back(std::move(slot));
}

// Fills the place of one entry and changes no other. Recycling still counts the segment that held it first.
void Replay::repair(const Record& record) {
  if (record.index <= state_.base.index) return;
  restart_behind_gap(record.index);
  extend_with_holes(record.index);
  Slot& slot = slots_[record.index - slots_.front().index];
  slot.term = record.term;
  slot.content_sum = record.content_sum;
  slot.repaired_at = {segment_, record.offset};
  slot.entry.reset();
  slot.record_bytes = record.bytes();
  if (record.payload_intact) slot.entry = entry_of(record);
}

// No more entries can be missing before this one than were lost. If more are missing, a reset was lost.
void Replay::restart_behind_gap(Index index) {
  if (truncation_unknown_ || index <= last() || index - last() - 1 <= lost_) return;
  slots_.clear();
  previous_.clear();
  state_.base = {index.previous(), Term()};
}

void Replay::leave_out_payloads(Index through) {
  for (auto slot = slots_.rbegin(); slot != slots_.rend() && slot->at.segment == segment_; ++slot) {
    if (slot->index <= through && slot->entry && slot->entry->kind == raft::EntryKind::Command) slot->entry->payload = {};
  }
}

void Replay::truncate(Index keep) {
  while (!slots_.empty() && slots_.back().index > keep) slots_.pop_back();
  std::erase_if(previous_, [keep](const Identity& identity) { return identity.index > keep; });
}

void Replay::extend_with_holes(Index wanted) {
  while (last() < wanted) slots_.push_back(hole(last().next()));
}

void Replay::forget_up_to(Index index) {
  while (!slots_.empty() && slots_.front().index <= index) slots_.pop_front();
}

}  // namespace coordkit::log
