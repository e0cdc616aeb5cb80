// Estimates how many bytes of the log are after an index. This says which entries may be forgotten so that the rest is still
// at least a budget. Evicted entries count as well, so the bytes are noted in samples, a few dozen per budget.
#pragma once

#include <deque>

#include "coordkit/types.h"

namespace coordkit::raft {

class LogWeight {
 public:
  LogWeight(Index base, uint64_t budget) : budget_(budget), step_(budget == 0 ? ~uint64_t{0} : budget / 32 + 1) { reset(base); }

  void append(Index index, size_t bytes) {
    if (newest_.total - sample_from_ >= step_) {
      sample_from_ = newest_.total;
      older_.push_back(newest_);
    }
    newest_ = {index, newest_.total + bytes};
  }
  void truncate_after(Index index);  // a cut within a sample stays counted until the next sample
  void compact(Index through);
  void reset(Index base);

  // Whether the entries after this one add up to at least the budget.
  bool reached_after(Index index) const;
  // The highest index such that the entries after it add up to at least the budget. The base if even all of them do not.
  Index beyond_budget() const;

 private:
  struct Sample {
    Index last;
    uint64_t total = 0;  // of all entries up to `last`
  };
  void find_sample_from();

  uint64_t budget_;
  uint64_t step_;
  uint64_t sample_from_ = 0;  // the total where the newest sample begins; modulo 2^64
  // Over all samples both members rise; the first one is the base or a sample below it.
  std::deque<Sample> older_;
  Sample newest_;
};

}  // namespace coordkit::raft
