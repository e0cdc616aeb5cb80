// Decides when the keys are compacted automatically, and up to where (docs/semantics.md S-20). It is pure; the leader's
// client asks it periodically. It remembers the newest revision at each question. Once that revision is old enough,
// everything before it may be compacted.
#pragma once

#include <deque>
#include <utility>

#include "coordkit/client/client_options.h"
#include "coordkit/ports/clock.h"
#include "coordkit/types.h"

namespace coordkit::client {

class Compactor {
 public:
  explicit Compactor(const CompactionPolicy& policy) : policy_(policy) {}

  bool on() const { return policy_.revisions != 0 || policy_.age != Duration::zero(); }
  Duration interval() const;  // between two questions

  // Where to compact, above `compacted`; zero: nowhere yet. With both limits, history that either limit keeps is kept.
  Revision due(LaggingTime now, Revision newest, Revision compacted);
  void forget() { seen_.clear(); }  // another replica leads: a later leader starts over

 private:
  Revision old_enough(LaggingTime now) const;  // zero: none

  CompactionPolicy policy_;
  std::deque<std::pair<LaggingTime, Revision>> seen_;  // ascending in both
};

}  // namespace coordkit::client
