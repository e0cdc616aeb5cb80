// Decides when a replica that hears from no leader campaigns next, and how its campaigns are numbered.
#pragma once

#include "base/random.h"
#include "coordkit/raft/core.h"

namespace coordkit::raft {

class ElectionTimer {
 public:
  // Campaign numbers begin at random, so that answers to an earlier incarnation are stale.
  explicit ElectionTimer(const Options& options)
      : timeout_(options.election_timeout), random_(options.seed), campaign_(random_() >> 32) {}

  // A random time in [timeout, 2 * timeout) from now (thesis 3.4).
  void arm(LaggingTime now) {
    const auto jitter = static_cast<Duration::rep>(random_.below(static_cast<uint64_t>(timeout_.count())));
    deadline_ = now + timeout_ + Duration(jitter);
  }
  LaggingTime deadline() const { return deadline_; }

  // A random time around `mean`, so that two replicas whose requests were lost at once do not repeat them at once.
  Duration scattered(Duration mean) {
    return mean / 2 + Duration(static_cast<Duration::rep>(random_.below(static_cast<uint64_t>(mean.count()))));
  }

  uint64_t next_campaign() { return ++campaign_; }

 private:
  Duration timeout_;
  Random random_;
  uint64_t campaign_;
  LaggingTime deadline_;
};

}  // namespace coordkit::raft
