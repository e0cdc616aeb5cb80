#include "raft/log/log_weight.h"

#include <algorithm>

namespace coordkit::raft {

void LogWeight::truncate_after(Index index) {
  for (; !older_.empty() && older_.back().last >= index; older_.pop_back()) newest_ = older_.back();
  newest_.last = std::min(newest_.last, index);
  find_sample_from();
}

void LogWeight::compact(Index through) {
  while (!older_.empty() && (older_.size() > 1 ? older_[1] : newest_).last <= through) older_.pop_front();
  find_sample_from();
}

void LogWeight::reset(Index base) {
  older_.clear();
  newest_ = {base, 0};
  find_sample_from();
}

// The first sample only marks where the others begin: the next entry opens one.
void LogWeight::find_sample_from() { sample_from_ = older_.empty() ? newest_.total - step_ : older_.back().total; }

bool LogWeight::reached_after(Index index) const {
  const auto found = std::find_if(older_.begin(), older_.end(), [&](const Sample& sample) { return sample.last >= index; });
  const Sample& from = found == older_.end() ? newest_ : *found;
  return from.last >= index && newest_.total - from.total >= budget_;
}

Index LogWeight::beyond_budget() const {
  if (budget_ == 0 || older_.empty()) return newest_.last;
  const auto within =
      std::find_if(older_.begin(), older_.end(), [&](const Sample& sample) { return newest_.total - sample.total < budget_; });
  return within == older_.begin() ? within->last : (within - 1)->last;
}

}  // namespace coordkit::raft
