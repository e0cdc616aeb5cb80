#include "coordkit/objects/election.h"
#include "service/objects/object_access.h"

namespace coordkit {

// S-49: a candidate waits for nothing on behalf of the other threads of its session.
Election::Election(Session session, std::string name, ElectionOptions options)
    : session_(std::move(session)), name_(std::move(name)), options_(std::move(options)) {
  const auto& handle = HandleAccess::handle(session_);
  if (options_.owner.empty() && handle) options_.owner = handle->owner_tags().fresh();
}

LockOptions Election::candidacy(std::string value, Duration timeout) const {
  return {
      .timeout = timeout, .owner = options_.owner, .value = std::move(value), .no_deadlock_check = options_.no_deadlock_check};
}

AsyncCall Election::campaign_async(std::string value, Duration timeout, Callback<Grant> done) {
  return session_.acquire_async(name_, candidacy(std::move(value), timeout), std::move(done));
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

absl::StatusOr<Grant> Election::campaign(std::string value, Duration timeout, std::stop_token stop) {
  LockOptions options = candidacy(std::move(value), timeout);
  options.stop = std::move(stop);
  return session_.acquire(name_, std::move(options));
}

// A leadership that is over knows it itself, or learns it from the log.
absl::StatusOr<Token> Election::campaign_or_proclaim(Grant& leadership, std::string value, Duration timeout,
                                                     std::stop_token stop) {
  if (const HoldRef& hold = HandleAccess::hold(leadership); hold && hold->name() == name_ && !hold->released()) {
    const absl::Status proclaimed = proclaim(leadership, value);
    if (proclaimed.ok()) return leadership.token();
    const std::optional<Reason> reason = reason_of(proclaimed);
    if (reason != Reason::NotOwner && reason != Reason::Lost && reason != Reason::SessionNotFound) return proclaimed;
  }
  absl::StatusOr<Grant> won = campaign(std::move(value), timeout, std::move(stop));
  if (!won.ok()) return won.status();
  leadership = *std::move(won);
  return leadership.token();
}

absl::Status Election::proclaim(const Grant& leadership, std::string value) {
  return wait_of(session_, *this, &Election::proclaim_async, leadership, std::move(value));
}

absl::StatusOr<std::optional<LeaderInfo>> Election::leader() const { return wait_of(session_, *this, &Election::leader_async); }

}  // namespace coordkit
