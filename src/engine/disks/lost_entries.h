// Entries that the disk of a log has lost below its durable mark, and what an open does with such a log (FLT_D02, FLT_D06).
//
// Entries that the checkpoint covers are no longer needed: the log starts after it. The others are not known here any more, but
// peers may count on them. So the log ends before the first of them, and the disk keeps a mark of its own that records
// how far it had reached: the floor for votes (raft::Recovered::floor). The leader's appends replace the rest; a leader has
// all that was committed (docs/decisions/0024). The mark survives restarts and goes when the log has reached the floor again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordkit/ports/log_store.h"

namespace coordkit::engine {

class LostEntries {
 public:
  // Cuts the log as above and takes this disk's own mark out of its marks. `applied` is of the checkpoint.
  static LostEntries cut(RecoveredLog& log, Position applied);

  bool any() const { return bool(floor_.index); }
  Position floor() const { return floor_; }
  Term term() const { return term_; }
  // The checkpoint covers the log up to here, where it was damaged: it is to be compacted.
  const std::optional<Position>& covered() const { return covered_; }
  void compacted() { covered_.reset(); }
  // The disk as it was before the loss, for comparison with what peers remember: in later terms it is the log as it is.
  Position end_for(Term now, Position last) const;

  void replaced() { floor_ = {}; }
  void warnings(std::vector<std::string>& out) const;
  std::string why_waiting() const;  // empty: it does not wait

 private:
  void cover(RecoveredLog& log, Position applied);
  void raise_floor(Term term, Position end);

  std::string which_;  // a phrase
  Position floor_;     // zero: none, or no longer
  Term term_;          // the disk's when they were found lost
  std::optional<Position> covered_;
};

}  // namespace coordkit::engine
