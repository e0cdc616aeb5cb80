// Counts the outcomes of acquires (docs/semantics.md S-56). Only the client's owner thread uses it.
#pragma once

#include <optional>

#include "coordkit/client/statistics.h"
#include "machine/result.h"

namespace coordkit::client {

class Statistics {
 public:
  void queued() { ++so_far_.waits; }
  // nullopt: the acquire never waited in line.
  void granted(std::optional<Duration> waited) {
    ++so_far_.grants;
    if (!waited) return;
    ++so_far_.hand_offs;
    so_far_.wait_times.add(*waited);
  }
  void granted_locally() { ++so_far_.local_grants; }
  void refused(machine::ResultCode code) {
    switch (code) {
      case machine::ResultCode::Held:
      case machine::ResultCode::Delayed: ++so_far_.refusals; break;
      case machine::ResultCode::WaitTimeout: ++so_far_.timeouts; break;
      case machine::ResultCode::Cancelled: ++so_far_.cancels; break;
      case machine::ResultCode::Deadlock: ++so_far_.deadlocks; break;
      default: break;
    }
  }
  void expired() { ++so_far_.expiries; }

  const LockStatistics& so_far() const { return so_far_; }

 private:
  LockStatistics so_far_;
};

}  // namespace coordkit::client
