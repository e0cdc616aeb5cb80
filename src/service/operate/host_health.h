// The reports of a host about its state: health and metrics, made by the host on the engine's thread, published here for the
// others, and answered to calls.
//
// Threads: what publishes is for the engine's; health(), metrics() and waits are for any.
#pragma once

#include <optional>
#include <utility>

#include "coordkit/service.h"
#include "service/calls/call_runner.h"
#include "service/loop/arrivals.h"
#include "service/loop/engine_turns.h"
#include "service/loop/hold_ups.h"
#include "service/loop/turn_loop.h"
#include "service/operate/health_calls.h"
#include "service/operate/published_health.h"
#include "service/operate/replica_health.h"

namespace coordkit {

class HostHealth final : public ReplicaHealth {
 public:
  HostHealth(const CallRunner& host, TurnLoop& loop, Duration election_timeout, const HoldUps& hold_ups)
      : host_(host), hold_ups_(hold_ups), published_(loop, host.clock(), election_timeout) {}

  struct Report {
    Health health;
    Metrics metrics;
  };
  void publish(Report&& report) { published_.publish(std::move(report.health), std::move(report.metrics)); }
  bool wanted(LaggingTime now) const { return published_.wanted(now) || calls_.any(); }
  // Publishes, and answers the calls that waited for this. True: callbacks have run, which may have begun calls.
  bool tell(Report&& report, LaggingTime now);
  HealthCalls& calls() { return calls_; }
  void stop(Report&& last);

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
  Health known() const;
  void refresh();

  const CallRunner& host_;
  const HoldUps& hold_ups_;
  PublishedHealth published_;
  HealthCalls calls_;
};

// The counters of loop, engine and client. Those of stores and transport are the host's.
Metrics metrics_of(EngineTurns& turns, const Arrivals& arrivals);

}  // namespace coordkit
