#include "testing/fake_health.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "service/calls/waiting.h"
#include "service/operate/health_calls.h"

namespace coordkit::testkit {

Health FakeHealth::health() {
  Health health = health_of(*engine_, host_.clock().lagging());
  if (process_.stopped()) {
    health.state = ReplicaState::Halted;
    health.reason = std::string(sentence_of(closed_already()));
  } else if (!engine_->has_leader() || engine_->is_cut()) {
    health.state = ReplicaState::Starting;
    health.reason = "no leader is known: the test took it away, or cut this replica off";
    health.leader = {};
    health.role = raft::Role::Follower;
    health.contact_age = std::nullopt;
  }
  return health;
}

absl::StatusOr<Metrics> FakeHealth::metrics() {
  const Client& client = process_.client();
  return Metrics{
      .commands = client.command_statistics(), .locks = client.lock_statistics(), .renewals = client.renewal_statistics()};
}

absl::Status FakeHealth::wait_ready(Duration timeout) {
  if (host_.on_engine_thread()) return would_wait_for_itself();
  host_.wait_here([this] { return readiness(health()).has_value(); }, host_.deadline(timeout));
  const Health now = health();
  return readiness(now).value_or(not_ready_yet(now));
}

Ticket FakeHealth::ask(Callback<Health> done) {
  std::move(done)(health());
  return {};
}

// It checks again after a moment, as long as the replica is not ready.
Ticket FakeHealth::ask_ready(LaggingTime deadline, DoneCallback done) {
  const Health now = health();
  const LaggingTime time = host_.clock().lagging();
  if (const std::optional<absl::Status> ready = readiness(now); ready || time >= deadline) {
    std::move(done)(ready ? *ready : not_ready_yet(now));
    return {};
  }
  host_.later(std::min<Duration>(std::chrono::milliseconds(10), deadline - time),
              [this, deadline, done = std::move(done)]() mutable { ask_ready(deadline, std::move(done)); });
  return {};
}

}  // namespace coordkit::testkit
