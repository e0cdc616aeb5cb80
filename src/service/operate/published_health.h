// The health and the metrics of a replica as the engine's thread has last published them, for other threads to read and to wait
// for. Reading never needs that thread, which a callback may block.
//
// Threads: any. Lifetime: the loop and the clock outlive it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "absl/functional/function_ref.h"
#include "coordkit/service.h"
#include "service/loop/hold_ups.h"
#include "service/loop/turn_loop.h"

namespace coordkit {

class PublishedHealth {
 public:
  // `renewed_after`: what is published gets no older while rounds are run.
  PublishedHealth(TurnLoop& loop, const Clock& clock, Duration renewed_after)
      : loop_(loop), clock_(clock), renewed_after_(renewed_after) {}

  void publish(Health health, Metrics metrics);
  // With their age.
  Health read() const;
  Metrics read_metrics() const;
  // Whether it is to be published after this turn: somebody waits, or it is old.
  bool wanted(LaggingTime now) const { return watchers_ > 0 || asked_ || now - published_at_.load() >= renewed_after_; }
  bool watched() const { return watchers_ > 0; }
  // Waits until it is published once more. False: `timeout` has passed, and the thread is held up. True also of a closed
  // replica.
  bool look(Duration timeout, const HoldUps& hold_ups);
  // It is published soon, for those that read it later.
  void ask();
  // Waits until the predicate holds for what is published, at most `timeout`, and returns that. Absent: the replica is closed.
  std::optional<Health> wait(Duration timeout, absl::FunctionRef<bool(const Health&)> holds);
  void end();  // closed: waiting is over

 private:
  bool watch(std::unique_lock<std::mutex>& lock, Duration timeout, absl::FunctionRef<bool()> until);
  Duration age() const;

  TurnLoop& loop_;
  const Clock& clock_;
  const Duration renewed_after_;
  std::atomic<int> watchers_{0};
  std::atomic<bool> asked_{false};
  std::atomic<LaggingTime> published_at_{LaggingTime()};
  mutable std::mutex mutex_;  // guards the following
  std::condition_variable changed_;
  Health health_;
  Metrics metrics_;
  uint64_t published_ = 0;  // how often
  bool over_ = false;
};

}  // namespace coordkit
