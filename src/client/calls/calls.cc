#include "client/calls/calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/calls/times.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId Calls::enter(AnyCallback&& callback, OnAbandon on_abandon, CallDeadline deadline, Duration timeout,
                    Call::Start&& start) {
  if (stopped_) return refuse(std::move(callback), absl::OkStatus());
  if (on_abandon != OnAbandon::Persist && size() >= options_.calls_max) {
    return refuse(std::move(callback),
                  make_error(Reason::TooManyRequests, "calls_max calls are under way; wait for some to end"));
  }
  const CallId id = calls_.add([&](CallId) { return Call{.callback = std::move(callback), .on_abandon = on_abandon}; });
  Fresh& fresh = fresh_.emplace_back();
  fresh.id = id;
  fresh.start = std::move(start);
  fresh.deadline = deadline;
  fresh.timeout = timeout;
  return id;
}

// Answers in the next turn, because a callback never runs inside the call to which it was passed. A stopped client has no
// next turn.
CallId Calls::refuse(AnyCallback&& callback, absl::Status why) {
  const CallId id = calls_.id_of_none();
  if (stopped_) {
    callback.fail(why_stopped());
  } else {
    deliveries_.answer([callback = std::move(callback), why = std::move(why)]() mutable { callback.fail(why); });
  }
  return id;
}

Call* Calls::find(CallId id) { return calls_.find(id); }

void Calls::start_new(Now now) {
  starting_.swap(fresh_);
  for (Fresh& fresh : starting_) start_one(fresh, now);
  starting_.clear();
  for (const CallId id : std::exchange(cancelled_, {})) hasten(id, later(now.lagging, options_.call_timeout));
}

void Calls::hasten(CallId id, LaggingTime at) {
  Call* const call = find(id);
  if (call == nullptr || call->deadline <= at) return;
  const LaggingTime before = std::exchange(call->deadline, at);
  deadlines_.add(at, id);
  if (before != LaggingTime::max()) deadlines_.ended(stands());
}

void Calls::start_one(Fresh& fresh, Now now) {
  const CallId id = fresh.id;
  Call* call = find(id);
  if (call == nullptr) return;
  call->deadline = fresh.deadline ? *fresh.deadline : later(now.lagging, fresh.timeout);
  if (call->deadline <= now.lagging) {
    fail(id, too_late(*call));
    return;
  }
  deadlines_.add(call->deadline, id);
  fresh.start(id, now);
}

Call* Calls::leave(CallId id) {
  Call* const call = find(id);
  if (call == nullptr) return nullptr;
  if (CallOwner* const owner = std::exchange(call->owner, nullptr)) owner->ended(id, *call);  // once, whatever fails after it
  return call;
}

void Calls::remove(CallId id, const Call& call) {
  const bool timed = call.deadline != LaggingTime::max();
  calls_.remove(id);
  if (timed) deadlines_.ended(stands());
}

bool Calls::fail(CallId id, absl::Status why) {
  Call* const call = leave(id);
  if (call == nullptr) return false;
  deliveries_.answer([callback = std::move(call->callback), why = std::move(why)]() mutable { callback.fail(why); });
  remove(id, *call);
  return true;
}

// The engine had its turn at this moment and would have given the answers that it knows. The other calls end here
// (docs/semantics.md S-59). A turn must stay short however many there are: the next turn, which comes at once, continues.
void Calls::expire(Now now) {
  for (size_t left = kExpiredOfATurn; left > 0; --left) {
    const std::optional<CallId> id = deadlines_.take_due(now.lagging, stands());
    if (!id) return;
    give_up(*id, too_late(*find(*id)));
  }
}

absl::Status Calls::too_late(const Call& call) {
  const bool in_log = call.submitted;
  if (call.cancelled) return make_error(Reason::CancelPending, "the deadline passed before the cancellation was decided");
  return make_error(Reason::CallTimeout, in_log ? Outcome::Unknown : Outcome::NoEffect,
                    in_log ? "the deadline passed before the result was known; it may still take effect"
                           : "the deadline passed before anything was done");
}

// Answers the caller now. A later result of the ticket is undone or ignored, depending on the call.
void Calls::give_up(CallId id, absl::Status status) {
  const Call& call = *find(id);
  const bool forgotten = call.on_abandon == OnAbandon::Forget || (call.on_abandon == OnAbandon::Pursue && !call.submitted);
  const bool pursued = call.owner != nullptr && call.owner->pursues(call);
  if (!pursued && call.ticket && forgotten) requests_.forget(call.ticket);
  fail(id, std::move(status));
}

void Calls::cancel(CallId id) {
  Call* call = find(id);
  if (call == nullptr) return;
  if (call->owner == nullptr || !call->owner->cancel(*call)) return abandon(id);
  cancelled_.push_back(id);
}

void Calls::abandon(CallId id) {
  const Call* call = find(id);
  if (call == nullptr) return;
  if (call->owner != nullptr) call->owner->abandoned(*call);
  give_up(id, call->submitted ? make_error(Reason::CancelPending, "the caller stopped listening; it may still take effect")
                              : make_error(Reason::Cancelled, Outcome::NoEffect, "the call was cancelled before it was sent"));
}

absl::Status Calls::why_stopped() const {
  if (failure_.ok()) return make_error(Reason::Closed, "the replica or remote is closed; open another one");
  return make_error(Reason::ReplicaFailed, Outcome::NoEffect,
                    "this replica has stopped: " + std::string(sentence_of(failure_)));
}

void Calls::stop(const absl::Status& why) {
  stopped_ = true;
  failure_ = why;
  std::vector<CallId> ids = calls_.ids();
  std::ranges::sort(ids);
  for (const CallId id : ids) {
    const Outcome outcome = find(id)->submitted ? Outcome::Unknown : Outcome::NoEffect;
    fail(id, make_error(why.ok() ? Reason::Stopped : Reason::ReplicaFailed, outcome,
                        why.ok() ? std::string("the replica stopped before the call was answered")
                                 : "this replica has stopped: " + std::string(sentence_of(why))));
  }
  fresh_.clear();
  cancelled_.clear();
}

}  // namespace coordkit::client
