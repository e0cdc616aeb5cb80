// Port: runs tasks on the host's threads. A replica with an executor (parts.h) needs no thread for
// its engine. asio_executor() in asio_executor.h makes one for Asio.
#pragma once

#include "absl/functional/any_invocable.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Threads: called from any thread; must not block.
// Errors: must not fail.
// A task runs once, on any thread, and never inside the call that posted it. Two tasks may run at
// the same time. A replica has at most one task posted and a few delayed ones, each as short as a
// turn of its engine.
// Every posted task must be run until the replica is closed: close() waits for its last task. If
// that task has not begun after a second, because the executor was stopped before, close() ends on
// its own thread. Tasks that run later than that, or never, do no harm; this includes delayed
// tasks. If the executor throws at a task, the task runs on a thread made for it (HostThrew).
class Executor {
 public:
  using Task = absl::AnyInvocable<void()>;  // called once, or destroyed without a call

  virtual ~Executor() = default;
  // Runs the task soon.
  virtual void post(Task task) = 0;
  // Not before this time has passed, and soon after it.
  virtual void post_after(Duration delay, Task task) = 0;
  // Whether tasks wait while the calling thread blocks. True on the only thread of an executor,
  // inside a task and outside. A replica refuses blocking calls there (InCallback), because their
  // answer would need that thread. Not called once the replica is closed. An executor that cannot
  // tell keeps this default: such a call then ends at its timeout.
  virtual bool runs_in_this_thread() const { return false; }
};

}  // namespace coordkit
