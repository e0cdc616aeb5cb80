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
  Health health = health_of(*engine_, clock_.now().lagging);
  for (std::string& threw : host_code_.warnings()) health.warnings.push_back(std::move(threw));
  if (!no_reserve_.empty()) health.warnings.push_back(no_reserve_);
  const std::lock_guard lock(health_mutex_);
  health_ = std::move(health);
  health_changed_.notify_all();
}

std::unique_lock<std::mutex> Host::wait_health(Duration timeout, absl::FunctionRef<bool()> holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::min<Duration>(timeout, std::chrono::hours(24 * 365));
  watchers_.fetch_add(1);
  loop_.wake();
  std::unique_lock lock(health_mutex_);
  health_changed_.wait_until(lock, deadline, [&] { return over_ || holds(); });
  watchers_.fetch_sub(1);
  return lock;
}

absl::Status Host::wait_ready(Duration timeout) {
  if (forked()) return forked_away();
  if (on_engine_thread()) return would_wait_for_itself();
  const auto lock = wait_health(timeout, [&] { return !waits(health_.state); });
  if (over_) return closed_already();
  const ReplicaState state = health_.state;
  if (state == ReplicaState::Ready || state == ReplicaState::Learner) return absl::OkStatus();
  if (waits(state)) return make_error(Reason::CallTimeout, Outcome::None, "not ready yet: " + health_.reason);
  return make_error(state == ReplicaState::Removed ? Reason::Removed : Reason::NotReady, health_.reason);
}

absl::StatusOr<std::unique_ptr<CheckpointView>> Host::checkpoint_at(Index at_least, LaggingTime deadline) {
  if (forked()) return forked_away();
  if (on_engine_thread() || on_callback_thread()) return would_wait_for_itself();
  post(EngineInput(CheckpointWanted{at_least}));
  {
    const auto stopped = [&] { return health_.state == ReplicaState::Halted || health_.state == ReplicaState::Quarantine; };
    const auto lock =
        wait_health(deadline - clock_.now().lagging, [&] { return stopped() || health_.checkpointed >= at_least; });
    if (over_) return closed_already();
    if (stopped()) return make_error(Reason::NotReady, health_.reason);
    if (health_.checkpointed < at_least) {
      const std::string waits = health_.warnings.empty() ? std::string() : ": " + absl::StrJoin(health_.warnings, "; ");
      return make_error(Reason::CallTimeout, Outcome::None,
                        "the state after entry " + std::to_string(at_least.value()) + " was not durable here in time" + waits);
    }
  }
  const std::lock_guard lock(viewing_);
  if (closing()) return closed_already();
  return state_->view();
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
  const std::lock_guard lock(health_mutex_);
  return health_;
}

}  // namespace coordkit
