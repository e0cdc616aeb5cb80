#include "coordkit/election.h"

#include "replica/coordination.h"

namespace coordkit {

AsyncCall Election::campaign_async(std::string value, Duration timeout, Callback<Grant> done) {
  return session_.acquire_async(name_, {.timeout = timeout, .value = std::move(value)}, std::move(done));
}

AsyncCall Election::proclaim_async(const Grant& leadership, std::string value, DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::proclaim, HandleAccess::hold(leadership), std::move(value));
}

AsyncCall Election::leader_async(Callback<std::optional<LeaderInfo>> done) const {
  return begin_of(session_, std::move(done), &CoordinationCalls::leader, name_);
}

Observation Election::observe(Observer<LeaderSeen> observer) const {
  return observe_of(session_, &CoordinationCalls::observe_leader, name_, std::move(observer));
}

// ---- the same, blocking

absl::StatusOr<Grant> Election::campaign(std::string value, Duration timeout) {
  return session_.acquire(name_, {.timeout = timeout, .value = std::move(value)});
}

// A leadership that is over knows it itself, or learns it from the log.
absl::StatusOr<Token> Election::campaign_or_proclaim(Grant& leadership, std::string value, Duration timeout) {
  if (const HoldRef& hold = HandleAccess::hold(leadership); hold && hold->name() == name_ && !hold->released()) {
    const absl::Status proclaimed = proclaim(leadership, value);
    if (proclaimed.ok()) return leadership.token();
    const std::optional<Reason> reason = reason_of(proclaimed);
    if (reason != Reason::NotOwner && reason != Reason::Lost && reason != Reason::SessionNotFound) return proclaimed;
  }
  absl::StatusOr<Grant> won = campaign(std::move(value), timeout);
  if (!won.ok()) return won.status();
  leadership = *std::move(won);
  return leadership.token();
}

absl::Status Election::proclaim(const Grant& leadership, std::string value) {
  return wait_of(session_, *this, &Election::proclaim_async, leadership, std::move(value));
}

absl::StatusOr<std::optional<LeaderInfo>> Election::leader() const { return wait_of(session_, *this, &Election::leader_async); }

}  // namespace coordkit
