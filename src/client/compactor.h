// Says when the keys are to be compacted by themselves, and up to where (docs/semantics.md S-20): pure, asked by the leader's
// client from time to time. What was newest when it was asked, it remembers; once that is old enough, all before it may go.
#pragma once

#include <deque>
#include <utility>

#include "coordkit/client/options.h"
#include "coordkit/clock.h"
#include "coordkit/types.h"

namespace coordkit::client {

class Compactor {
 public:
  explicit Compactor(const CompactionPolicy& policy) : policy_(policy) {}

  bool on() const { return policy_.revisions != 0 || policy_.age != Duration::zero(); }
  Duration interval() const;  // between two questions

  // Where to compact, above `compacted`; zero: nowhere yet. With both limits, what either of them keeps is kept.
  Revision due(LaggingTime now, Revision newest, Revision compacted);
  void forget() { seen_.clear(); }  // somebody else leads: a later leader counts anew

 private:
  Revision old_enough(LaggingTime now) const;  // zero: nothing is

  CompactionPolicy policy_;
  std::deque<std::pair<LaggingTime, Revision>> seen_;  // ascending in both
};

}  // namespace coordkit::client
