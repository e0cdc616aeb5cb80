// Which term every index of the log has, as runs: O(terms) memory, so that it can cover entries that are no longer cached.
// Terms never fall along a log (thesis fig. 3.2), hence both lookups are binary searches.
#pragma once

#include <optional>
#include <vector>

#include "coordkit/types.h"

namespace coordkit::raft {

class TermRuns {
 public:
  explicit TermRuns(Position base) : runs_{base}, last_(base.index) {}

  Position base() const { return runs_.front(); }
  Position last() const { return {last_, runs_.back().term}; }
  std::optional<Term> at(Index index) const;

  // The last position at or before `index` whose term is at most `term`; the base if there is none. A follower hints this
  // position, and a leader looks there next: one round per term, however long the divergence (thesis 3.5; regression R28).
  Position last_not_above(Index index, Term term) const;

  void append(Position position);    // right after last()
  void truncate_after(Index index);  // base <= index
  void compact(Index through);       // base <= through <= last; becomes the base

 private:
  size_t run_of(Index index) const;  // base <= index

  std::vector<Position> runs_;  // first index of each run; runs_[0] is the base, which has a term but no entry
  Index last_;
};

}  // namespace coordkit::raft
