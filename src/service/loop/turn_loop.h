// Where the engine's turns run, in rounds, one at a time: on a thread of the replica's own (own_thread.h) or on the host's
// executor, which may have many.
//
// Threads: wake() from any. Once end() has returned none of it runs any more; tasks that the executor still has do nothing.
//
// Failure: an executor of the host's that throws at a task is given no other for it: a thread made for the task runs it. Where
// there is none, and on the replica's own thread, which throws only for lack of memory, the next round begins with a later
// wake, at the latest a second later.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/executor.h"

namespace coordkit {

class TurnLoop {
 public:
  // Runs some turns and returns how long after them the next one is due at the latest; zero: at once. Does not throw.
  using Round = std::function<Duration()>;

  // `on_throw`: of the first time that the executor does not take a task; on any thread.
  using OnThrow = std::function<void(const absl::Status&)>;
  enum class Elsewhere : uint8_t { Never, Thread };  // where a task runs that the executor threw at
  TurnLoop(std::shared_ptr<Executor> executor, Round round, OnThrow on_throw = {}, const Clock& clock = system_clock(),
           Elsewhere elsewhere = Elsewhere::Thread);

  // Posts the first round, which includes earlier wakes. std::bad_alloc: a second long there was no memory for it, so no round
  // ever runs.
  void begin();
  void wake() noexcept;         // a round begins after this
  bool runs_here() const;       // is the caller part of a round?
  static bool any_runs_here();  // of any loop
  bool begun() const { return begun_; }
  Duration owed() const;  // for how long a round has been running or was due; zero: none is
  // Does the executor say that its tasks wait while this thread blocks? Not of a round, nor once all is over.
  bool waits_for_caller() const;
  // Runs `last`, which does not throw, after the current round, instead of any further one, and waits for that. Where
  // waits_for_caller(), and when the executor has had `patience` without running it, `last` runs right here, if no round is
  // running.
  void end(absl::AnyInvocable<void()> last, Duration patience = Duration::max());

 private:
  struct State;
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<State> state_;  // tasks hold it too
  bool begun_ = false;
};

}  // namespace coordkit
