// A limited number of permits in a cluster. They are taken all together or not at all, in the order
// of asking.
//
// A grant of permits is a Grant like a lock's. valid() says whether it may still be trusted.
// release() or its destruction gives all permits back, and the end of the session frees them in the
// same moment. The semaphore itself stays until remove(). Semaphores have names of their own, 1 to
// 1,024 bytes.
//
// Threads: all methods are thread-safe.
// Example: tests/unit/replica/replica_coordination_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

// Options of Semaphore::acquire().
struct PermitsWanted {
  uint64_t permits = 1;                        // all of them or none
  Duration timeout = kForever;                 // how long to wait in line; zero: not at all
  std::optional<uint64_t> initial_limit = {};  // makes the semaphore if there is none; no effect if
                                               // there is
};

class Semaphore {
 public:
  // The semaphore `name` of this session. Makes no call.
  Semaphore(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

  // Sets the number of permits; makes the semaphore if there is none. Lowering it takes no permits
  // back: none is granted until enough are free.
  absl::Status set_limit(uint64_t limit);
  // kNotFound: no such semaphore, and no initial_limit. kDeadlineExceeded (WaitTimeout),
  // kFailedPrecondition (Held: timeout zero), kAborted (Lost): nothing is held. A request above the
  // limit waits: the limit may be raised. kUnavailable: no leader, no effect.
  absl::StatusOr<Grant> acquire(PermitsWanted wanted = {});
  absl::StatusOr<Grant> try_acquire(PermitsWanted wanted = {});  // acquire() without a wait

  absl::StatusOr<SemaphoreInfo> info() const;  // linearizable: its limit, holders and waits
  absl::Status remove();                       // kFailedPrecondition (Held): a session holds
                                               // permits or waits. kNotFound

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
  AsyncCall set_limit_async(uint64_t limit, DoneCallback done);
  AsyncCall acquire_async(PermitsWanted wanted, Callback<Grant> done);
  AsyncCall info_async(Callback<SemaphoreInfo> done) const;
  AsyncCall remove_async(DoneCallback done);

 private:
  Session session_;
  std::string name_;
};

}  // namespace coordkit
