// A stream of what happens to one election, counter, latch or group, until this object goes.
//
// First comes a linearizable snapshot, then every change after it, once, in order. When continuity is lost (this replica took
// over a state from another one, or the observer was too slow) a new snapshot comes, marked Seen::Resync. Observers run on the
// replica's callback thread and must not block for long. Threads: any. Lifetime: may outlive the replica. Failure: a replica
// that has halted or is closed tells nothing more, and does not say so here: Replica::health(), on_halt and on_phase do. On one
// that was removed it goes on if that becomes a member again.
#pragma once

#include <memory>
#include <utility>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class Observation {
 public:
  Observation() = default;  // observes nothing
  Observation(Observation&&) noexcept = default;
  Observation& operator=(Observation&&) noexcept = default;
  ~Observation() = default;  // ends it; one call of the observer may still be under way

  void end() { handle_.reset(); }

 private:
  friend class ObservationMaker;
  explicit Observation(std::shared_ptr<void> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<void> handle_;
};

}  // namespace coordkit
