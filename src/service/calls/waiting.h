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
#include "service/calls/call_runner.h"
#include "service/calls/callback_stream.h"
#include "service/loop/hold_ups.h"

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

// Waits until `ready()`, which needs the mutex, or for `timeout` of the host's time at most; returns what ready() then says.
template <typename Ready>
bool wait_on(CallRunner& host, std::condition_variable& wake, std::mutex& mutex, Duration timeout, Ready ready) {
  const auto ready_now = [&] {
    const std::lock_guard lock(mutex);
    return ready();
  };
  if (host.wait_here(ready_now, host.deadline(std::max(timeout, Duration::zero())))) return ready_now();
  std::unique_lock lock(mutex);
  return wait_up_to(wake, lock, timeout, ready);
}

// A value that one thread sets and another waits for. The first one counts.
template <typename T>
class Slot {
 public:
  // A value that comes after give_up() is destroyed here: a grant is released, a session closed.
  void set(T value) {
    const std::lock_guard lock(mutex_);
    if (given_up_ || value_) return;
    value_.emplace(std::move(value));
    wake_.notify_one();
  }
  // Whether it has come, or never will.
  bool settled() {
    const std::lock_guard lock(mutex_);
    return abandoned_ || value_.has_value();
  }
  bool wait(Duration at_most) {
    std::unique_lock lock(mutex_);
    return wait_up_to(wake_, lock, at_most, [&] { return abandoned_ || value_.has_value(); });
  }
  // Absent: it was abandoned.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return abandoned_ || value_.has_value(); });
    return std::move(value_);
  }
  // The value, if it has come. Else nobody waits for it any more.
  std::optional<T> give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    return std::exchange(value_, std::nullopt);
  }
  // No value will come.
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    wake_.notify_one();
  }

  // Sets it, or abandons it when it goes.
  class Setter {
   public:
    explicit Setter(std::shared_ptr<Slot> slot) : slot_(std::move(slot)) {}
    Setter(Setter&&) noexcept = default;
    Setter& operator=(Setter&&) = delete;
    ~Setter() {
      if (slot_) slot_->abandon();
    }
    void operator()(T value) { slot_->set(std::move(value)); }

   private:
    std::shared_ptr<Slot> slot_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<T> value_;
  bool given_up_ = false;
  bool abandoned_ = false;
};

inline absl::Status would_wait_for_itself() {
  return make_error(Reason::InCallback,
                    "a blocking call inside a callback would wait for its own thread; use the async form, or another thread");
}

inline absl::Status closed_already() { return make_error(Reason::Closed, "the replica or remote is closed; open another one"); }

inline absl::Status forked_away() {
  return make_error(
      Reason::Closed,
      "this process is a fork of the one that opened the replica: open another one here, in a directory of its own");
}

inline absl::Status would_wait_for_executor() {
  return make_error(Reason::InCallback,
                    "a blocking call on the only thread of the executor that runs this replica would wait for itself; use "
                    "the async form (coordkit/asio/asio.h has it for coroutines), or another thread");
}

// Why a call that waits may not be made on this thread; OK: it may.
inline absl::Status refusal_to_wait(const CallRunner& host) {
  if (host.forked()) return forked_away();
  if (host.on_engine_thread()) return would_wait_for_itself();
  if (host.on_executor_thread()) return would_wait_for_executor();
  return absl::OkStatus();
}

// Another attempt on this replica, with the same arguments, would end in the same way.
inline bool is_for_good(const absl::Status& why) {
  const std::optional<Reason> reason = reason_of(why);
  if (!reason) return false;
  switch (*reason) {
    case Reason::Closed:
    case Reason::Stopped:
    case Reason::ReplicaFailed:
    case Reason::EmptyKey:
    case Reason::InvalidArgument:
    case Reason::PermissionDenied:
    case Reason::TtlTooLarge:
    case Reason::LimitExceeded: return true;
    default: return false;
  }
}

// The timeout of a call that has none in its arguments: as ClientOptions::call_timeout.
inline constexpr Duration kCallLasts = std::chrono::seconds(10);

// Waits by `wait(at_most)`, which says whether the answer has come, until the deadline has passed and the engine's thread is
// held up; false: it is, and has not answered. The engine ends every call at its deadline by itself and knows more about it. So
// the deadline does not decide, but whether the engine's thread can end the call.
template <typename Wait>
bool wait_unless_held_up(const Clock& clock, const HoldUps& hold_ups, LaggingTime deadline, Wait wait) {
  for (;;) {
    const LaggingTime now = clock.lagging();
    const bool late = now >= deadline;
    if (late && hold_ups.now()) return wait(Duration::zero());
    if (wait(late ? hold_ups.limit() : deadline - now)) return true;
  }
}

// CallControl::give_up().
bool give_up(const AsyncCall& call);

inline std::string words_or_past(const HoldUps& hold_ups) {
  std::string words = hold_ups.words();
  return words.empty() ? "the engine's thread was held up until a moment ago" : words;
}

// A call whose caller waits no longer. `withdrawn`: it had not begun.
inline absl::Status gave_up(const HoldUps& hold_ups, bool withdrawn) {
  const std::string why = words_or_past(hold_ups);
  return withdrawn ? make_error(Reason::CallTimeout, Outcome::NoEffect,
                                "the call's time passed before it had begun; it was withdrawn and did nothing: " + why)
                   : make_error(Reason::CallTimeout, Outcome::Unknown,
                                "the call's time passed before it was answered, and it may still take effect: " + why);
}

// `begin(callback)` begins a call, and gives its AsyncCall; every call ends exactly once, so this returns. After `timeout` it
// waits no longer for a thread that is held up.
template <typename Answer, typename Begin>
Answer wait_for_async(CallRunner& host, Duration timeout, Begin begin) {
  if (absl::Status refused = refusal_to_wait(host); !refused.ok()) return refused;
  const LaggingTime deadline = host.deadline(timeout);
  auto slot = std::make_shared<Slot<Answer>>();
  const AsyncCall call = begin(typename Slot<Answer>::Setter(slot));
  host.wait_here([&slot] { return slot->settled(); });
  const InterruptibleWait interruptible(slot);
  const HoldUps* const hold_ups = host.hold_ups();
  const auto wait = [&slot](Duration at_most) { return slot->wait(at_most); };
  if (deadline == LaggingTime::max() || hold_ups == nullptr || wait_unless_held_up(host.clock(), *hold_ups, deadline, wait)) {
    std::optional<Answer> answer = slot->take();
    if (interruptible.interrupted()) call.cancel();
    return answer ? *std::move(answer) : Answer(host.unanswered());
  }
  if (std::optional<Answer> answer = slot->give_up()) return *std::move(answer);
  return gave_up(*hold_ups, give_up(call));
}

// The same for a call of the client, begun by `start(client, callback)`, however long it takes.
template <typename Answer, typename Start>
Answer wait_for_answer(CallRunner& host, Start start) {
  return wait_for_async<Answer>(host, Duration::max(), [&](absl::AnyInvocable<void(Answer)> done) {
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
