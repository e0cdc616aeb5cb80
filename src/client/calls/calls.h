// The life of every call. It is entered, the next turn starts it, and it ends once: by its result, at its deadline or by its
// caller.
//
// A caller waits for a call; the engine works on a ticket. They end separately: a call past its deadline is gone. Its ticket
// lives on until its outcome is known, so that none of its effects stays unknown.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/deadlines.h"
#include "base/slots.h"
#include "client/calls/call.h"
#include "client/calls/deliveries.h"
#include "client/calls/requests.h"
#include "client/calls/waits.h"

namespace coordkit::client {

class Calls {
 public:
  static constexpr size_t kExpiredOfATurn = 1024;

  Calls(const ClientOptions& options, Deliveries& deliveries, Requests& requests)
      : options_(options), deliveries_(deliveries), requests_(requests) {}

  // `timeout`: counted from the start, for a call without a deadline.
  CallId enter(AnyCallback&& callback, OnAbandon on_abandon, CallDeadline deadline, Duration timeout, Call::Start&& start);
  CallId enter(AnyCallback&& callback, OnAbandon on_abandon, CallDeadline deadline, Call::Start&& start) {
    return enter(std::move(callback), on_abandon, deadline, options_.call_timeout, std::move(start));
  }
  // For a call that waits for something: the time that such a wait gets.
  CallId enter(AnyCallback&& callback, OnAbandon on_abandon, CallDeadline deadline, const LockWait& wait, Call::Start&& start) {
    return enter(std::move(callback), on_abandon, deadline, timeout_of(wait, options_), std::move(start));
  }
  CallId refuse(AnyCallback&& callback, absl::Status why);
  // Null: the call has ended. Its address is stable until it ends.
  Call* find(CallId id);

  // Ends a call; false: it had already ended.
  template <typename T>
  bool answer(CallId id, absl::StatusOr<T> value) {
    return end(id, std::move(value));
  }
  bool answer_done(CallId id, absl::Status status) { return end(id, std::move(status)); }
  bool fail(CallId id, absl::Status why);

  // The caller wants the call to end early. Where the log can decide that, it does, and has as much time as a call without a
  // wait. Otherwise this is like abandon().
  void cancel(CallId id);
  void abandon(CallId id);

  void start_new(Now now);  // calls entered since the last turn; limits the time left to those cancelled since then
  void expire(Now now);     // at most a turn's share
  // Fails all calls, and later calls at once. `why`: the failure of the replica; OK: it is closed. A second stop() fails the
  // rest.
  void stop(const absl::Status& why);
  bool stopped() const { return stopped_; }
  absl::Status why_stopped() const;  // the answer to a later call

  bool wants_turn() const { return !fresh_.empty() || !cancelled_.empty(); }
  LaggingTime next_deadline() const { return deadlines_.next(); }
  size_t size() const { return calls_.size(); }

 private:
  template <typename Answer>
  bool end(CallId id, Answer value) {
    Call* const call = leave(id);
    if (call == nullptr) return false;
    deliveries_.answer(std::move(call->callback), std::move(value));
    remove(id, *call);
    return true;
  }
  // The part that only a call needs that was not started.
  struct Fresh {
    CallId id;
    Call::Start start;
    CallDeadline deadline;  // as passed in
    Duration timeout{};
  };
  Call* leave(CallId id);  // its owner learns that it ends. Null: it has ended
  void remove(CallId id, const Call& call);
  auto stands() {
    return [this](LaggingTime at, CallId id) {
      const Call* const call = find(id);
      return call != nullptr && call->deadline == at;
    };
  }
  void start_one(Fresh& fresh, Now now);
  void hasten(CallId id, LaggingTime at);
  void give_up(CallId id, absl::Status status);
  static absl::Status too_late(const Call& call);

  const ClientOptions& options_;
  Deliveries& deliveries_;
  Requests& requests_;
  Slots<CallId, Call> calls_;
  std::vector<Fresh> fresh_;       // not started yet
  std::vector<Fresh> starting_;    // of this turn
  std::vector<CallId> cancelled_;  // since the last turn, and left to the log
  Deadlines<CallId> deadlines_;    // of calls that were started
  bool stopped_ = false;
  absl::Status failure_;  // of the replica, once it has stopped
};

}  // namespace coordkit::client
