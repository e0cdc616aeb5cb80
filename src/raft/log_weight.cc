#include "raft/log_weight.h"

#include <algorithm>

namespace coordkit::raft {

void LogWeight::append(Index index, size_t bytes) {
  const uint64_t total = marks_.back().total + bytes;
  const bool full = marks_.size() < 2 || marks_.back().total - marks_[marks_.size() - 2].total >= step_;
  if (full) {
    marks_.push_back({index, total});
  } else {
    marks_.back() = {index, total};
  }
}

void LogWeight::truncate_after(Index index) {
  while (marks_.size() > 1 && marks_[marks_.size() - 2].last >= index) marks_.pop_back();
  marks_.back().last = std::min(marks_.back().last, index);
}

void LogWeight::compact(Index through) {
  while (marks_.size() > 1 && marks_[1].last <= through) marks_.pop_front();
}

void LogWeight::reset(Index base) { marks_.assign(1, Mark{base, 0}); }

bool LogWeight::reached_after(Index index) const {
  const auto from = std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) { return mark.last >= index; });
  return from != marks_.end() && marks_.back().total - from->total >= budget_;
}

Index LogWeight::beyond_budget() const {
  const uint64_t all = marks_.back().total;
  const auto within = std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) { return all - mark.total < budget_; });
  if (within == marks_.begin()) return marks_.front().last;
  return (within - 1)->last;
}

}  // namespace coordkit::raft
