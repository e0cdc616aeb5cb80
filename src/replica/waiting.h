// Turns an asynchronous call of the client into a blocking one.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/call.h"
#include "coordkit/error.h"
#include "replica/call_runner.h"
#include "replica/callback_stream.h"

namespace coordkit {

inline constexpr Duration kNeverEnds =
    std::chrono::hours(24 * 365 * 10);  // a longer wait is forever: no sum of times overflows

// Waits until `ready()`, or for `timeout` at most; returns what ready() then says.
template <typename Ready>
bool wait_up_to(std::condition_variable& wake, std::unique_lock<std::mutex>& lock, Duration timeout, Ready ready) {
  if (timeout <= kNeverEnds) return wake.wait_for(lock, std::max(timeout, Duration::zero()), ready);
  wake.wait(lock, ready);
  return true;
}

// A value that one thread sets and another waits for. The first one counts.
template <typename T>
class Slot {
 public:
  void set(T value) {
    const std::lock_guard lock(mutex_);
    if (value_) return;
    value_.emplace(std::move(value));
    wake_.notify_one();
  }
  bool has_value() {
    const std::lock_guard lock(mutex_);
    return value_.has_value();
  }
  T take() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return value_.has_value(); });
    return *std::move(value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<T> value_;
};

inline absl::Status would_wait_for_itself() {
  return make_error(
      Reason::InCallback,
      "a call that waits, inside a callback on the very thread it waits for; use the async form, or another thread");
}

inline absl::Status closed_already() { return make_error(Reason::Closed, "the replica is closed; open another one"); }

inline absl::Status forked_away() {
  return make_error(
      Reason::Closed,
      "this process is a fork of the one that opened the replica: open another one here, in a directory of its own");
}

// `begin(callback)` begins a call and returns what cancels it. Every call ends exactly once, so this returns.
template <typename Answer, typename Begin>
Answer wait_for_async(CallRunner& host, Begin begin) {
  if (host.forked()) return forked_away();
  if (host.on_engine_thread()) return would_wait_for_itself();
  auto slot = std::make_shared<Slot<Answer>>();
  AsyncCall call = begin([slot](Answer answer) { slot->set(std::move(answer)); });
  if (!InterruptibleWait::in_callback()) call = AsyncCall();  // it goes with its answer, on the engine's thread
  host.before_waiting([&slot] { return slot->has_value(); });
  const InterruptibleWait wait(slot);
  Answer answer = slot->take();
  if (wait.interrupted()) call.cancel();
  return answer;
}

// The same for a call of the client, begun by `start(client, callback)`.
template <typename Answer, typename Start>
Answer wait_for_answer(CallRunner& host, Start start) {
  return wait_for_async<Answer>(host, [&](absl::AnyInvocable<void(Answer)> done) {
    host.call([start = std::move(start), done = std::move(done)](Client& client) mutable { start(client, std::move(done)); });
    return AsyncCall();
  });
}

template <typename T, typename Start>
absl::StatusOr<T> wait_for(CallRunner& host, Start start) {
  return wait_for_answer<absl::StatusOr<T>>(host, std::move(start));
}

template <typename Start>
absl::Status wait_for_done(CallRunner& host, Start start) {
  return wait_for_answer<absl::Status>(host, std::move(start));
}

}  // namespace coordkit
