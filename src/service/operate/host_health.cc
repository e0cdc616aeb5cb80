// How the health of a replica is made and told.
#include "service/operate/host_health.h"

#include <algorithm>
#include <utility>

#include "service/calls/waiting.h"

namespace coordkit {

Health health_of(const Engine& engine, LaggingTime now) {
  const EngineStatus status = engine.status();
  Health health{.state = status.state,
                .reason = status.reason,
                .role = engine.leadership().role,
                .term = engine.leadership().term,
                .leader = engine.leadership().leader,
                .applied = status.applied,
                .checkpointed = status.checkpointed,
                .cluster = status.cluster,
                .feature_level = status.feature_level,
                .digest = status.digest,
                .catch_up = status.catch_up,
                .change = status.change,
                .warnings = status.warnings,
                .missing = status.missing};
  if (status.core) {
    health.commit = status.core->commit;
    health.durable = status.core->durable;
    health.members = member_list(*status.core, engine.self(), now);
    const bool leads = health.role == raft::Role::Leader;
    const LaggingTime heard = leads ? status.core->quorum_contact : status.core->leader_contact;
    if (health.leader) health.contact_age = std::max(now - heard, Duration::zero());
  }
  return health;
}

// Every thread knows what holds up the engine's.
Health HostHealth::known() const {
  Health health = published_.read();
  for (std::string& warning : hold_ups_.warnings()) health.warnings.push_back(std::move(warning));
  return health;
}

bool HostHealth::tell(Report&& report, LaggingTime now) {
  publish(std::move(report));
  return calls_.any() && calls_.tell(known(), now);
}

void HostHealth::stop(Report&& last) {
  published_.end();
  publish(std::move(last));
  calls_.stop(known());
}

// Afterwards all that is published is of this moment, where that can be waited for.
void HostHealth::refresh() {
  if (host_.on_engine_thread()) return;
  if (host_.on_executor_thread()) return published_.ask();
  published_.look(Duration::zero(), hold_ups_);
}

Health HostHealth::health() {
  if (host_.forked()) return {.state = ReplicaState::Halted, .reason = std::string(sentence_of(forked_away()))};
  refresh();
  return known();
}

absl::StatusOr<Metrics> HostHealth::metrics() {
  if (host_.forked()) return forked_away();
  refresh();
  return published_.read_metrics();
}

absl::Status HostHealth::wait_ready(Duration timeout) {
  if (absl::Status refused = refusal_to_wait(host_); !refused.ok()) return refused;
  timeout = std::max(timeout, Duration::zero());
  const LaggingTime began = host_.clock().lagging();
  // As it is now: what was published before may be old. A thread that does not come to that is not ready either.
  if (!published_.look(timeout, hold_ups_)) {
    return make_error(Reason::CallTimeout, Outcome::NoEffect,
                      "not ready yet, as far as is known: this replica has not answered: " + words_or_past(hold_ups_));
  }
  const Duration left = timeout - (host_.clock().lagging() - began);
  const auto health = published_.wait(left, [](const Health& now) { return readiness(now).has_value(); });
  if (!health) return closed_already();
  const std::optional<absl::Status> ready = readiness(*health);
  return ready ? *ready : not_ready_yet(*health);
}

}  // namespace coordkit
