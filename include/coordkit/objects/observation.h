// A stream of changes of one election, counter, latch or group, until end() or until this object is
// destroyed.
//
// First comes a linearizable snapshot, then every later change, once, in order. When continuity is
// lost, a new snapshot comes, marked Seen::Resync. That happens if this replica took over a state
// from another one, or if the observer was too slow.
//
// Threads: any. Observers run on the replica's callback thread and must not block for long.
// Lifetime: it may outlive the replica.
// Errors: a replica that has halted or is closed reports nothing more, and the stream does not say
// so: Service::health(), on_halt and on_phase do. On a removed replica the stream resumes if the
// replica becomes a member again.
//
// The end of a stream of callbacks is the same for Observation, Watch, Mirror and Config, and for
// on_phase of sessions and leases (docs/semantics.md S-66). end() waits for a call of the callback
// that another thread is in. The destructor and move assignment do the same. After it the callback
// is never called again, and everything that it captured is destroyed. So a class whose callback
// captures `this` holds the handle as its last member, or ends it first:
//
//   struct Gauge {
//     explicit Gauge(const Counter& counter)
//         : seen(counter.observe([this](const CounterSeen& now) { value = now.value; })) {}
//     std::atomic<int64_t> value{0};
//     Observation seen;  // last: destroyed first, and no call uses `value` after that
//   };
//
// Inside the callback itself end() waits for nothing: the running call is the last one. If another
// thread's end() finds the callback inside a blocking call of coordkit, that call returns
// kCancelled (CancelPending), so that the two do not wait for each other. During end(), hold no
// mutex that the callback takes: both would wait for ever.
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
