// Turns an asynchronous call of the client into a blocking one.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/error.h"
#include "replica/call_runner.h"

namespace coordkit {

// A value that one thread sets once and another waits for.
template <typename T>
class Slot {
 public:
  void set(T value) {
    const std::lock_guard lock(mutex_);
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
  return make_error(Reason::InvalidArgument,
                    "a blocking call inside an async callback would wait for itself: use the async form, or another thread");
}

// `start(client, callback)` begins the call; every call of the client ends exactly once, so this returns.
template <typename Answer, typename Start>
Answer wait_for_answer(CallRunner& host, Start start) {
  if (host.on_engine_thread()) return would_wait_for_itself();
  auto slot = std::make_shared<Slot<Answer>>();
  host.call([start = std::move(start), slot](Client& client) mutable {
    start(client, [slot](Answer answer) { slot->set(std::move(answer)); });
  });
  host.before_waiting([&slot] { return slot->has_value(); });
  return slot->take();
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
