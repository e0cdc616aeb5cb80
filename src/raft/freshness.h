// How old a follower's applied state may be, as far as it knows. The leader's statement "I have committed up to here" makes
// the state as fresh as the moment of its arrival, once the entries are applied. One statement is remembered at a time, so
// the answer is at most a few heartbeats too old. A later statement of a lower index replaces it: a claim of entries that
// never come must not outlive the leader that made it (FLT_S12). The result is no bound: it ignores how long the message
// travelled, and the leader may have been deposed without knowing it. A caller that needs certainty reads linearizably.
#pragma once

#include <optional>

#include "coordkit/ports/clock.h"
#include "coordkit/types.h"

namespace coordkit::raft {

class Freshness {
 public:
  void received(Index committed, LaggingTime now, Index applied_so_far) {
    if (!word_ || committed < word_->committed) word_ = Word{committed, now};
    applied(applied_so_far);
  }
  void applied(Index applied) {
    if (!word_ || word_->committed > applied) return;
    at_ = word_->at;
    word_.reset();
  }
  std::optional<LaggingTime> at() const { return at_; }

 private:
  struct Word {
    Index committed;
    LaggingTime at;
  };
  std::optional<Word> word_;  // its entries are not applied yet
  std::optional<LaggingTime> at_;
};

}  // namespace coordkit::raft
