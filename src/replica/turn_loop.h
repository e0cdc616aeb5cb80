// Where the engine's turns run, in rounds, one at a time: on a thread of the replica's own (own_thread.h) or on the host's
// executor, which may have many.
//
// Threads: wake() from any. Once end() has returned none of it runs any more; what the executor still has does nothing.
#pragma once

#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "coordkit/clock.h"
#include "coordkit/executor.h"

namespace coordkit {

class TurnLoop {
 public:
  // Runs some turns and returns how long after them the next one is due at the latest; zero: at once.
  using Round = std::function<Duration()>;

  // `on_throw`: of the first time that the executor does not take a task; on any thread.
  using OnThrow = std::function<void(const absl::Status&)>;
  TurnLoop(std::shared_ptr<Executor> executor, Round round, OnThrow on_throw = {}, const Clock& clock = system_clock());

  void begin();                 // the first round; includes earlier wakes
  void wake();                  // a round begins after this
  bool runs_here() const;       // is the caller part of a round?
  static bool any_runs_here();  // of any loop
  bool begun() const { return begun_; }
  Duration owed() const;  // for how long a round has been running or was due; zero: none is
  // Does the executor say that its tasks wait while this thread blocks? Not of a round, nor once all is over.
  bool waits_for_caller() const;
  // Runs `last` after the current round, instead of any further one, and waits for that. Where waits_for_caller(), and when the
  // executor has had `patience` without running it, `last` runs right here, if no round is running.
  void end(absl::AnyInvocable<void()> last, Duration patience = Duration::max());

 private:
  struct State;
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<State> state_;  // tasks hold it too
  bool begun_ = false;
};

}  // namespace coordkit
