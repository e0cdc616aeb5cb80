#include "service/operate/health_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordkit/error.h"
#include "service/calls/waiting.h"

namespace coordkit {
namespace {

bool to_be_awaited(ReplicaState state) {
  return state == ReplicaState::WaitingForMembers || state == ReplicaState::Uninvited || state == ReplicaState::Starting ||
         state == ReplicaState::CatchingUp;
}

}  // namespace

std::optional<absl::Status> readiness(const Health& health) {
  if (to_be_awaited(health.state)) return std::nullopt;
  if (health.state == ReplicaState::Ready || health.state == ReplicaState::Learner) return absl::OkStatus();
  return make_error(health.state == ReplicaState::Removed ? Reason::Removed : Reason::NotReady, health.reason);
}

absl::Status not_ready_yet(const Health& health) {
  return make_error(Reason::CallTimeout, Outcome::NoEffect, "not ready yet: " + health.reason);
}

Ticket HealthCalls::enlist(Call call) {
  const Ticket ticket = std::exchange(next_, next_.next());
  calls_.emplace(ticket, std::move(call));
  return ticket;
}

Ticket HealthCalls::ask(Callback<Health> done) {
  if (!last_) return enlist({.done = std::move(done)});
  std::move(done)(*last_);
  return {};
}

Ticket HealthCalls::wait_ready(LaggingTime deadline, DoneCallback done) {
  if (last_) {
    std::move(done)(closed_already());
    return {};
  }
  Callback<Health> answer = [done = std::move(done)](const absl::StatusOr<Health>& health) mutable {
    std::move(done)(health.status());
  };
  return enlist({.done = std::move(answer), .until_ready = true, .deadline = deadline});
}

LaggingTime HealthCalls::next_deadline() const {
  LaggingTime next = LaggingTime::max();
  for (const auto& [ticket, call] : calls_) next = std::min(next, call.deadline);
  return next;
}

bool HealthCalls::abandon(Ticket call) {
  auto ended = calls_.extract(call);
  if (!ended) return false;
  std::move(ended.mapped().done)(make_error(Reason::Cancelled, Outcome::NoEffect, "the caller stopped waiting"));
  return true;
}

// A callback may make another call of these, which is not looked at here, or end one of the others.
bool HealthCalls::tell(const Health& health, LaggingTime now) {
  const std::optional<absl::Status> ready = readiness(health);
  std::vector<Ticket> due;
  for (const auto& [ticket, call] : calls_) {
    if (!call.until_ready || ready || call.deadline <= now) due.push_back(ticket);
  }
  for (const Ticket ticket : due) {
    auto ended = calls_.extract(ticket);
    if (!ended) continue;
    Call& call = ended.mapped();
    absl::StatusOr<Health> answer = health;
    if (call.until_ready) {
      absl::Status status = ready ? *ready : not_ready_yet(health);
      if (!status.ok()) answer = std::move(status);
    }
    std::move(call.done)(std::move(answer));
  }
  return !due.empty();
}

void HealthCalls::stop(const Health& health) {
  last_ = health;
  for (auto& [ticket, call] : std::exchange(calls_, {})) {
    if (call.until_ready) {
      std::move(call.done)(make_error(Reason::Stopped, Outcome::NoEffect, "the replica was closed before it was ready"));
    } else {
      std::move(call.done)(health);
    }
  }
}

}  // namespace coordkit
