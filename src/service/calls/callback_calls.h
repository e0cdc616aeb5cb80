// Which calls begin where they are made (decision 0035): those inside a callback on the engine's thread. An admitted one only
// while it overtakes none in the queue, and no more of them in a turn than the queue gives it.
//
// Threads: the engine's, but here() and inside(), which are for any.
#pragma once

#include <cstddef>
#include <utility>

#include "service/calls/call_runner.h"
#include "service/loop/arrivals.h"
#include "service/loop/turn_loop.h"

namespace coordkit {

class CallbackCalls {
 public:
  CallbackCalls(const TurnLoop& loop, const CallAdmission& admission) : loop_(loop), admission_(admission) {}

  void turn_begins() { begun_ = 0; }
  bool here() const { return loop_.runs_here() && inside_; }
  bool may_begin_here(Counts counts) {
    if (!here()) return false;
    if (counts == Counts::No) return true;
    if (admission_.in_line() > 0 || begun_ == Arrivals::kCallsOfATurn) return false;
    ++begun_;
    return true;
  }
  // Runs a callback, or what runs it. Any thread.
  template <typename Run>
  void inside(Run run) {
    if (!loop_.runs_here()) return run();
    const bool outer = std::exchange(inside_, true);
    run();
    inside_ = outer;
  }

 private:
  const TurnLoop& loop_;
  const CallAdmission& admission_;
  bool inside_ = false;
  size_t begun_ = 0;  // admitted ones, in this turn
};

}  // namespace coordkit
