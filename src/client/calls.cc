#include "client/calls.h"

#include <algorithm>

#include "base/check.h"
#include "client/times.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId Calls::enter(AnyCallback callback, OnAbandon on_abandon, CallDeadline deadline, Duration timeout, Call::Start start) {
  if (stopped_) return refuse(std::move(callback), absl::OkStatus());
  if (on_abandon != OnAbandon::Persist && size() >= options_.calls_max) {
    return refuse(std::move(callback),
                  make_error(Reason::TooManyRequests, "calls_max calls are under way; wait for some to end"));
  }
  if (free_.empty()) {
    COORDKIT_CHECK(slots_.size() < kSlotMask);
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const size_t slot = free_.back();
  free_.pop_back();
  const CallId id = new_id(slot);
  slots_[slot].emplace(Call{.id = id, .callback = std::move(callback), .on_abandon = on_abandon});
  fresh_.push_back({id, std::move(start), deadline, timeout});
  return id;
}

// Answered in the next turn, because a callback never runs inside the call it was passed to. A stopped client has no
// next turn.
CallId Calls::refuse(AnyCallback callback, absl::Status why) {
  const CallId id = new_id(kSlotMask);  // of no slot
  if (stopped_) {
    callback.fail(make_error(Reason::Closed, "the replica is closed; open another one"));
  } else {
    deliveries_.answer([callback = std::move(callback), why = std::move(why)]() mutable { callback.fail(why); });
  }
  return id;
}

Call* Calls::find(CallId id) {
  const uint64_t slot = slot_of(id);
  if (slot >= slots_.size()) return nullptr;
  std::optional<Call>& call = slots_[slot];
  return call && call->id == id ? &*call : nullptr;
}

void Calls::start_new(Now now) {
  starting_.swap(fresh_);
  for (Fresh& fresh : starting_) start_one(fresh, now);
  starting_.clear();
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
  if (call->deadline != LaggingTime::max()) deadlines_.emplace(call->deadline, id);
  fresh.start(id, now);
}

std::optional<AnyCallback> Calls::remove(CallId id) {
  Call* const call = find(id);
  if (call == nullptr) return std::nullopt;
  deadlines_.erase({call->deadline, id});
  if (call->owner != nullptr) call->owner->ended(id, *call);
  std::optional<AnyCallback> callback(std::move(call->callback));
  const uint64_t slot = slot_of(id);
  slots_[slot].reset();
  free_.push_back(slot);
  return callback;
}

bool Calls::fail(CallId id, absl::Status why) {
  std::optional<AnyCallback> callback = remove(id);
  if (!callback) return false;
  deliveries_.answer([callback = *std::move(callback), why = std::move(why)]() mutable { callback.fail(why); });
  return true;
}

// The engine had its turn at this moment and would have answered what it knows; the rest ends here (docs/semantics.md S-59).
// However many there are, a turn must stay short: the next one, which comes at once, continues.
void Calls::expire(Now now) {
  for (size_t left = kExpiredOfATurn; left > 0 && next_deadline() <= now.lagging; --left) {
    const CallId id = deadlines_.begin()->second;
    give_up(id, too_late(*find(id)));
  }
}

absl::Status Calls::too_late(const Call& call) {
  const bool in_log = call.submitted || call.on_abandon == OnAbandon::Persist;
  if (call.cancelled) return make_error(Reason::CancelPending, "the deadline passed before the cancellation was decided");
  return make_error(Reason::CallTimeout, in_log ? Outcome::Unknown : Outcome::None,
                    in_log ? "the deadline passed before the result was known; it may still take effect"
                           : "the deadline passed before anything was done");
}

// The caller is answered now; what the ticket may still bring is undone or ignored, depending on the call.
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
  if (call->owner == nullptr || !call->owner->cancel(*call)) abandon(id);
}

void Calls::abandon(CallId id) {
  const Call* call = find(id);
  if (call == nullptr) return;
  if (call->owner != nullptr) call->owner->abandoned(*call);
  give_up(id, call->submitted ? make_error(Reason::CancelPending, "the caller stopped listening; it may still take effect")
                              : make_error(Reason::Cancelled, Outcome::None, "the call was cancelled before it was sent"));
}

void Calls::stop() {
  stopped_ = true;
  std::vector<CallId> ids;
  for (const std::optional<Call>& call : slots_) {
    if (call) ids.push_back(call->id);
  }
  std::ranges::sort(ids);
  for (const CallId id : ids) {
    const Outcome outcome = find(id)->submitted ? Outcome::Unknown : Outcome::None;
    fail(id, make_error(Reason::Stopped, outcome, "the replica stopped before the call was answered"));
  }
  fresh_.clear();
}

}  // namespace coordkit::client
