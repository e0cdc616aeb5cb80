// Decides which thread closes a replica, and when: the first to ask, once all that was begun is over or the time for that has
// passed. Threads that ask later wait for that.
//
// Threads: any. Lifetime: the loop outlives it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "coordkit/types.h"
#include "service/loop/turn_loop.h"

namespace coordkit {

class Closing {
 public:
  explicit Closing(TurnLoop& loop) : loop_(loop) {}

  // Waits for drained(), at most so long, if turns are run. True: the caller closes, and says closed(). False: another one
  // does, or did.
  bool begin(Duration drain);
  // Whether somebody waits for that: then each turn looks whether it is true.
  bool drains() const { return draining_; }
  void drained();
  void closed();
  void wait();         // until closed()
  bool closes_here();  // is the caller the one that closes just now?

 private:
  TurnLoop& loop_;
  std::atomic<bool> draining_{false};
  std::mutex mutex_;  // guards the following
  std::condition_variable wake_;
  bool drained_ = false;
  bool closed_ = false;
  std::thread::id closer_;  // none: nobody closes yet
};

}  // namespace coordkit
