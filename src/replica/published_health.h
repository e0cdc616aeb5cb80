// The health of a replica as the engine's thread has last published it, for other threads to read and to wait for.
//
// Threads: any. Lifetime: the loop outlives it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "absl/functional/function_ref.h"
#include "coordkit/replica.h"
#include "replica/turn_loop.h"

namespace coordkit {

class PublishedHealth {
 public:
  explicit PublishedHealth(TurnLoop& loop) : loop_(loop) {}

  void publish(Health health);
  Health read() const;
  // Whether somebody waits: then it is published after each turn.
  bool watched() const { return watchers_ > 0; }
  // Waits until it is published once more, at most `timeout`. False: it was not. True also of a closed replica.
  bool look(Duration timeout);
  // Waits until the predicate holds for what is published, at most `timeout`, and returns that. Absent: the replica is closed.
  std::optional<Health> wait(Duration timeout, absl::FunctionRef<bool(const Health&)> holds);
  void end();  // closed: waiting is over

 private:
  bool watch(std::unique_lock<std::mutex>& lock, Duration timeout, absl::FunctionRef<bool()> until);

  TurnLoop& loop_;
  std::atomic<int> watchers_{0};
  mutable std::mutex mutex_;  // guards the following
  std::condition_variable changed_;
  Health health_;
  uint64_t published_ = 0;  // how often
  bool over_ = false;
};

}  // namespace coordkit
