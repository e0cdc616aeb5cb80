// Port: runs tasks on threads of the host's. Who gives a replica an executor (parts.h) saves it the thread of its engine.
// The one for Asio: asio_executor() in asio_executor.h.
#pragma once

#include "absl/functional/any_invocable.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Called from any thread; must not block and must not fail. A task runs once, on any thread, and never inside of the call that
// posted it; two tasks may run at the same time. A replica has at most one task posted and a few delayed ones, each as short as
// a turn of its engine. Every posted task must be run until the replica is closed: close() waits for its last one, and ends
// on its own thread if that has not begun after a second, because the executor was stopped before. Tasks that are run later
// than that, delayed ones too, or never, do no harm. One that it throws at runs on a thread made for it (HostThrew).
class Executor {
 public:
  using Task = absl::AnyInvocable<void()>;

  virtual ~Executor() = default;
  virtual void post(Task task) = 0;
  virtual void post_after(Duration delay, Task task) = 0;  // not before so much time has passed, and soon then
  // Whether tasks wait while the calling thread blocks. True on the only thread of an executor, inside of a task and outside.
  // A replica refuses blocking calls there (InCallback), because their answer would need that thread. Not called once the
  // replica is closed. An executor that cannot tell keeps this one: then such a call ends at its timeout.
  virtual bool runs_in_this_thread() const { return false; }
};

}  // namespace coordkit
