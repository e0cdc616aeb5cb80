// The reports of a host about its state: health and metrics, made on the engine's thread, published for the others, and
// answered to calls.
//
// Threads: what makes or publishes is for the engine's; health(), metrics() and waits are for any. Lifetime: its sources
// outlive it; nothing is made before the host has started.
#pragma once

#include <optional>
#include <utility>

#include "coordkit/replica.h"
#include "replica/calls/call_runner.h"
#include "replica/loop/announcements.h"
#include "replica/loop/arrivals.h"
#include "replica/loop/engine_turns.h"
#include "replica/loop/hold_ups.h"
#include "replica/loop/turn_loop.h"
#include "replica/operate/health_calls.h"
#include "replica/operate/published_health.h"
#include "replica/operate/replica_health.h"
#include "replica/shell/peer_transport.h"
#include "replica/shell/stores.h"

namespace coordkit {

class HostHealth final : public ReplicaHealth {
 public:
  struct Sources {
    const HoldUps& hold_ups;
    const Arrivals& arrivals;
    const Stores& stores;
    PeerTransport& peers;
    const std::optional<Announcements>& announcements;
    std::optional<EngineTurns>& turns;
  };
  HostHealth(const CallRunner& host, TurnLoop& loop, Duration election_timeout, Sources sources)
      : host_(host), sources_(sources), published_(loop, host.clock(), election_timeout) {}

  void publish();
  // Publishes if somebody wants it. True: callbacks have run, which may have begun calls.
  bool after_turn(LaggingTime now);
  HealthCalls& calls() { return calls_; }
  void stop();  // the last one

  Health health() override;
  absl::StatusOr<Metrics> metrics() override;
  absl::Status wait_ready(Duration timeout) override;
  Ticket ask(Callback<Health> done) override { return calls_.ask(std::move(done)); }
  Ticket ask_ready(LaggingTime deadline, DoneCallback done) override { return calls_.wait_ready(deadline, std::move(done)); }
  // PublishedHealth::wait().
  std::optional<Health> wait(Duration timeout, absl::FunctionRef<bool(const Health&)> holds) {
    return published_.wait(timeout, holds);
  }

 private:
  Health health_now() const;
  Metrics metrics_now() const;
  Health known() const;
  void refresh();

  const CallRunner& host_;
  const Sources sources_;
  PublishedHealth published_;
  HealthCalls calls_;
};

}  // namespace coordkit
