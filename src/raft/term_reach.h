// How far a claimed term is believed (FLT_S08). Terms only ever rise, and there are 2^64 of them. A peer that could raise the
// term at will would leave none for elections. A peer that could raise the term of some replicas out of sight of the others
// would part them forever. So within an election timeout a term rises by no more than kTermLeapMax. No term stays out of
// reach: without a leader, a replica also moves towards a farther term, one leap per election timeout.
#pragma once

#include <algorithm>

#include "coordkit/raft/core.h"
#include "raft/log/raft_log.h"

namespace coordkit::raft {

class TermReach {
 public:
  TermReach(Term own, LaggingTime now) : farthest_(beyond(own)), since_(now) {}

  // Called before a claim is judged.
  void look(Term own, LaggingTime now, Duration period) {
    if (now - since_ < period) return;
    farthest_ = beyond(own);
    since_ = now;
  }
  bool covers(Term claimed) const { return claimed <= farthest_; }
  Term farthest() const { return farthest_; }

 private:
  static Term beyond(Term own) { return Term(std::min(own.value(), kCountMax - kTermLeapMax) + kTermLeapMax); }

  Term farthest_;
  LaggingTime since_;  // when that term was determined
};

}  // namespace coordkit::raft
