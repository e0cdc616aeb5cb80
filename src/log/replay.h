// Replay: the state of the log after each record, and the facts that can still be known after bytes were lost. A lost stretch
// ends at the next state on disk. That state gives the hard state, the end of the log, and whether (and how deep) the log was
// truncated meanwhile. An entry that cannot be proved to be current becomes a hole, never an entry.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "log/batch.h"

namespace coordkit::log {

// One entry of the recovered log. Without an entry it is a hole. The identity of a hole may be known; sum zero: it is not.
struct Slot {
  Index index;
  Term term;
  uint64_t content_sum = 0;
  DiskPosition at;           // of the record; for a hole, somewhere in the segment that held it. Rises with the index.
  DiskPosition repaired_at;  // of the record that filled the hole; nowhere: there was no hole
  std::optional<raft::Entry> entry;
  size_t record_bytes = 0;  // of the record that has it, also if the payload was left out

  DiskPosition where() const { return repaired_at.segment != 0 ? repaired_at : at; }
};

class Replay {
 public:
  // The state at the start of a segment; afterwards truncations are counted for this segment alone.
  void segment(uint32_t number, const LogState& state);
  // The header of this segment cannot be read.
  void segment_unreadable(uint32_t number);
  // Takes the records of one batch whose mark verified.
  void batch(const Mark& mark, std::span<const Record> records);
  // Takes a stretch of so many bytes without a readable mark; these records verified in it.
  void lost(std::span<const Record> records, size_t bytes);
  // Takes the state that a valid mark gives for the log before it, although the rest of its batch is torn.
  void stated(const Mark& mark) { enter(mark.state, mark.previous); }
  // Whether bytes were lost and no later state has clarified the end of the log.
  bool end_unknown() const { return lost_ != 0; }
  // Drops the payloads of the commands of this segment up to `through`, wherever the commands were repaired.
  void leave_out_payloads(Index through);
  // A whole segment is missing.
  void segment_missing() {
    ++lost_;
    truncation_unknown_ = true;
  }

  const LogState& state() const { return state_; }
  const std::vector<Identity>& previous() const { return previous_; }
  const std::optional<std::vector<PeerMark>>& peers() const { return peers_; }
  std::deque<Slot>& slots() { return slots_; }

 private:
  void enter(const LogState& state, std::span<const Identity> previous);
  void apply(const Record& record);
  void put(Slot slot);
  void repair(const Record& record);
  void restart_behind_gap(Index index);
  void truncate(Index keep);
  void extend_with_holes(Index last);
  Slot hole(Index index) const { return {.index = index, .at = {segment_, kBlockBytes}}; }
  Index last() const { return slots_.empty() ? state_.base.index : slots_.back().index; }
  void forget_up_to(Index index);

  uint32_t segment_ = 0;
  LogState state_;
  std::deque<Slot> slots_;
  std::vector<Identity> previous_;
  std::optional<std::vector<PeerMark>> peers_;  // the newest readable ones
  uint64_t lost_ = 0;                           // how many records may have been lost since the last state was read
  bool truncation_unknown_ = false;             // the next state does not cover all truncations since; nor does the count
};

}  // namespace coordkit::log
