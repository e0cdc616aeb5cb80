// Tells what holds up the engine's thread: which callback runs there and since when, which ones have blocked it, and whether
// its next round is late for another reason. A callback that blocks keeps every call, renewal and message of the replica
// waiting. So an operator must learn of it while it lasts, from other threads, and afterwards. Another reason may be a busy
// processor, which passes: it takes longer until the thread counts as held up.
//
// Threads: run() is the engine's, the rest is for any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/ports/clock.h"
#include "service/loop/turn_loop.h"

namespace coordkit {

class HoldUps {
 public:
  HoldUps(const TurnLoop& loop, const Clock& clock, Duration election_timeout);

  // A callback that takes so long has blocked.
  Duration limit() const { return limit_; }

  // Runs the callback of a call of this name, a literal. Returns how long it took.
  template <typename Callback>
  Duration run(const char* call, Callback&& callback) {
    const LaggingTime began = clock_.lagging();
    since_.store(began, std::memory_order_relaxed);
    running_.store(call, std::memory_order_release);
    callback();
    running_.store(nullptr, std::memory_order_relaxed);
    return clock_.lagging() - began;
  }
  // Counts one that took longer than the limit; returns a sentence.
  std::string blocked(const char* call, Duration took);

  bool now() const;           // is it held up at this moment?
  std::string words() const;  // by what and for how long; empty: it is not
  // A sentence for what holds it up now, and one for each kind of callback that did.
  std::vector<std::string> warnings() const;

 private:
  struct Blocked {
    uint64_t times = 0;
    Duration longest{};
  };
  struct Running {
    const char* call = nullptr;  // null: none
    Duration lasts{};
  };
  Running running() const;

  const TurnLoop& loop_;
  const Clock& clock_;
  const Duration limit_;
  std::atomic<LaggingTime> since_{LaggingTime::min()};  // of running_
  std::atomic<const char*> running_{nullptr};
  mutable std::mutex mutex_;  // guards the next
  std::map<std::string_view, Blocked> blocked_;
};

}  // namespace coordkit
