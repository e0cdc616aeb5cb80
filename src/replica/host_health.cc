// What a host says of its state, and calls that wait for it to change.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "replica/host.h"
#include "replica/waiting.h"

namespace coordkit {
namespace {

bool waits(ReplicaState state) {
  return state == ReplicaState::WaitingForMembers || state == ReplicaState::Uninvited || state == ReplicaState::Starting ||
         state == ReplicaState::CatchingUp;
}

bool has_stopped(ReplicaState state) { return state == ReplicaState::Halted || state == ReplicaState::Quarantine; }

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

}  // namespace

void Host::publish() {
  Health health = health_of(turns_->engine(), clock_.lagging());
  for (std::string& threw : announcements_->warnings()) health.warnings.push_back(std::move(threw));
  if (!stores_.no_reserve().empty()) health.warnings.push_back(stores_.no_reserve());
  health_.publish(std::move(health));
}

absl::Status Host::wait_ready(Duration timeout) {
  if (forked()) return forked_away();
  if (on_engine_thread()) return would_wait_for_itself();
  timeout = std::max(timeout, Duration::zero());
  const LaggingTime began = clock_.lagging();
  // As it is now: what was published before may be old. A thread that does not come to that for so long is not ready either.
  if (!health_.look(std::max(timeout, options_.election_timeout))) {
    return make_error(Reason::CallTimeout, Outcome::NoEffect,
                      "not ready yet: this replica's thread is held up, by an apply or by its disk, and has not answered");
  }
  const Duration left = timeout - (clock_.lagging() - began);
  const auto health = health_.wait(left, [](const Health& now) { return !waits(now.state); });
  if (!health) return closed_already();
  if (health->state == ReplicaState::Ready || health->state == ReplicaState::Learner) return absl::OkStatus();
  if (waits(health->state)) return make_error(Reason::CallTimeout, Outcome::NoEffect, "not ready yet: " + health->reason);
  return make_error(health->state == ReplicaState::Removed ? Reason::Removed : Reason::NotReady, health->reason);
}

absl::StatusOr<std::unique_ptr<CheckpointView>> Host::checkpoint_at(Index at_least, LaggingTime deadline) {
  if (forked()) return forked_away();
  if (on_engine_thread() || on_callback_thread()) return would_wait_for_itself();
  arrivals_.post(EngineInput(CheckpointWanted{at_least}));
  const auto health = health_.wait(deadline - clock_.lagging(),
                                   [&](const Health& now) { return has_stopped(now.state) || now.checkpointed >= at_least; });
  if (!health) return closed_already();
  if (has_stopped(health->state)) return make_error(Reason::NotReady, health->reason);
  if (health->checkpointed < at_least) {
    const std::string warnings = health->warnings.empty() ? std::string() : ": " + absl::StrJoin(health->warnings, "; ");
    return make_error(Reason::CallTimeout, Outcome::NoEffect,
                      "the state after entry " + std::to_string(at_least.value()) + " was not durable here in time" + warnings);
  }
  return stores_.view();
}

Health Host::health() {
  if (forked()) return {.state = ReplicaState::Halted, .reason = std::string(sentence_of(forked_away()))};
  if (!on_engine_thread()) {
    auto published = std::make_shared<Slot<bool>>();
    call([this, published](Client& client) {
      if (!client.stopped()) publish();
      published->set(true);
    });
    published->take();
  }
  return health_.read();
}

}  // namespace coordkit
