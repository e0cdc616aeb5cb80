#include "coordkit/election.h"

#include "replica/coordination.h"

namespace coordkit {

absl::StatusOr<Grant> Election::campaign(std::string value, Duration timeout) {
  return session_.acquire(name_, {.timeout = timeout, .value = std::move(value)});
}

void Election::campaign_async(std::string value, Duration timeout, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  session_.acquire_async(name_, {.timeout = timeout, .value = std::move(value)}, std::move(done));
}

absl::Status Election::proclaim(const Grant& leadership, std::string value) {
  return call_done(session_, [hold = HandleAccess::hold(leadership), value = std::move(value)](
                                 CoordinationCalls calls, const SessionRef&, DoneCallback done) mutable {
    calls.proclaim(hold, std::move(value), std::move(done));
  });
}

absl::StatusOr<std::optional<LeaderInfo>> Election::leader() const {
  return call_of<std::optional<LeaderInfo>>(
      session_, [name = name_](CoordinationCalls calls, const SessionRef&, Callback<std::optional<LeaderInfo>> done) {
        calls.leader(name, std::move(done));
      });
}

Observation Election::observe(Observer<LeaderSeen> observer) const {
  return observe_of(session_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_leader(name, std::move(observer));
  });
}

}  // namespace coordkit
