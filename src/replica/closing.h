// Who closes a replica, and when: the first to ask, once what was begun is over or the time for that has passed.
//
// Threads: any. Lifetime: the loop outlives it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "coordkit/types.h"
#include "replica/turn_loop.h"

namespace coordkit {

class Closing {
 public:
  explicit Closing(TurnLoop& loop) : loop_(loop) {}

  // Waits for drained(), at most so long, if turns are run. True: the caller closes. False: another one does, or did.
  bool begin(Duration drain);
  // Whether somebody waits for that: then each turn looks whether it is true.
  bool drains() const { return draining_; }
  void drained();

 private:
  TurnLoop& loop_;
  std::atomic<bool> draining_{false};
  std::mutex mutex_;  // guards the following
  std::condition_variable drained_wake_;
  bool drained_ = false;
  bool closing_ = false;
};

}  // namespace coordkit
