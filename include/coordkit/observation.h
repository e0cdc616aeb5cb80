// A stream of what happens to one election, counter, latch or group, until end() or until this object goes.
//
// First comes a linearizable snapshot, then every change after it, once, in order. When continuity is lost (this replica took
// over a state from another one, or the observer was too slow) a new snapshot comes, marked Seen::Resync. Observers run on the
// replica's callback thread and must not block for long. Threads: any. Lifetime: may outlive the replica. Failure: a replica
// that has halted or is closed tells nothing more, and does not say so here: Replica::health(), on_halt and on_phase do. On one
// that was removed it goes on if that becomes a member again.
//
// How a stream of callbacks ends, which is the same for Observation, Watch, Mirror and Config, and for on_phase of sessions and
// leases (docs/semantics.md S-66): end() waits for a call of the callback that another thread is in, and the destructor and
// move assignment do the same. After it the callback is never called again, and what it captured is destroyed. So a class whose
// callback captures `this` holds the handle as its last member, or ends it first:
//
//   struct Gauge {
//     explicit Gauge(const Counter& counter) : seen(counter.observe([this](const CounterSeen& now) { value = now.value; })) {}
//     std::atomic<int64_t> value{0};
//     Observation seen;  // last: destroyed first, and no call uses `value` after that
//   };
//
// Inside the callback itself end() waits for nothing: the call under way is the last one. A blocking call of coordkit's in
// which another thread's end() finds the callback returns kCancelled (CancelPending), so that the two do not wait for each
// other. Hold no mutex during end() that the callback takes: both would wait for ever.
#pragma once

#include <memory>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class Observation {
 public:
  Observation();  // observes nothing
  Observation(Observation&&) noexcept;
  Observation& operator=(Observation&&) noexcept;  // ends this one
  ~Observation();                                  // end()

  void end();  // may be called again

 private:
  friend class ObservationMaker;
  explicit Observation(std::unique_ptr<class Subscription> subscription);
  std::unique_ptr<class Subscription> subscription_;
};

}  // namespace coordkit
