#include "raft/log_weight.h"

#include <algorithm>

namespace coordkit::raft {

void LogWeight::append(Index index, size_t bytes) {
  Sample& last = samples_.back();
  const uint64_t total = last.total + bytes;
  if (last.total - sample_from_ >= step_) {
    sample_from_ = last.total;
    samples_.push_back({index, total});
  } else {
    last = {index, total};
  }
}

void LogWeight::truncate_after(Index index) {
  while (samples_.size() > 1 && samples_[samples_.size() - 2].last >= index) samples_.pop_back();
  samples_.back().last = std::min(samples_.back().last, index);
  find_sample_from();
}

void LogWeight::compact(Index through) {
  while (samples_.size() > 1 && samples_[1].last <= through) samples_.pop_front();
  find_sample_from();
}

void LogWeight::reset(Index base) {
  samples_.assign(1, Sample{base, 0});
  find_sample_from();
}

// The first sample only says where the others begin: the next entry opens one.
void LogWeight::find_sample_from() {
  sample_from_ = samples_.size() > 1 ? samples_[samples_.size() - 2].total : samples_.back().total - step_;
}

bool LogWeight::reached_after(Index index) const {
  const auto from = std::find_if(samples_.begin(), samples_.end(), [&](const Sample& sample) { return sample.last >= index; });
  return from != samples_.end() && samples_.back().total - from->total >= budget_;
}

Index LogWeight::beyond_budget() const {
  const uint64_t all = samples_.back().total;
  const auto within =
      std::find_if(samples_.begin(), samples_.end(), [&](const Sample& sample) { return all - sample.total < budget_; });
  if (within == samples_.begin()) return samples_.front().last;
  return (within - 1)->last;
}

}  // namespace coordkit::raft
