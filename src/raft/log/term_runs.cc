#include "raft/log/term_runs.h"

#include <algorithm>

#include "base/check.h"

namespace coordkit::raft {

size_t TermRuns::run_of(Index index) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), index, [](Index value, const Position& run) { return value < run.index; });
  return static_cast<size_t>(after - runs_.begin()) - 1;
}

std::optional<Term> TermRuns::at(Index index) const {
  if (index < runs_.front().index || index > last_) return std::nullopt;
  return runs_[run_of(index)].term;
}

Position TermRuns::last_not_above(Index index, Term term) const {
  const auto above =
      std::upper_bound(runs_.begin(), runs_.end(), term, [](Term value, const Position& run) { return value < run.term; });
  if (above == runs_.begin()) return base();
  const Index run_end = above == runs_.end() ? last_ : above->index.previous();
  const Index found = std::max(std::min(index, run_end), runs_.front().index);
  return {found, runs_[run_of(found)].term};
}

void TermRuns::append(Position position) {
  COORDKIT_CHECK(position.index == last_.next() && position.term >= runs_.back().term);
  last_ = position.index;
  if (position.term > runs_.back().term) runs_.push_back(position);
}

void TermRuns::truncate_after(Index index) {
  COORDKIT_CHECK(index >= runs_.front().index);
  if (index >= last_) return;
  last_ = index;
  while (runs_.back().index > index) runs_.pop_back();
}

void TermRuns::compact(Index through) {
  COORDKIT_CHECK(runs_.front().index <= through && through <= last_);
  const size_t run = run_of(through);
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<ptrdiff_t>(run));
  runs_.front().index = through;
}

}  // namespace coordkit::raft
