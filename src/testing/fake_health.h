// The health of the one replica of a fake service. It is that of its engine, except for the leader, which the test may take
// away.
#pragma once

#include <memory>

#include "service/operate/replica_health.h"
#include "service/shell/host.h"
#include "testing/fake_process.h"
#include "testing/scripted_engine.h"

namespace coordkit::testkit {

class FakeHealth final : public ReplicaHealth {
 public:
  // All must outlive it; after a restart `engine` is another one.
  FakeHealth(Host& host, const FakeProcess& process, const std::unique_ptr<ScriptedEngine>& engine)
      : host_(host), process_(process), engine_(engine) {}

  Health health() override;
  absl::StatusOr<Metrics> metrics() override;
  absl::Status wait_ready(Duration timeout) override;
  Ticket ask(Callback<Health> done) override;
  Ticket ask_ready(LaggingTime deadline, DoneCallback done) override;

 private:
  Host& host_;
  const FakeProcess& process_;
  const std::unique_ptr<ScriptedEngine>& engine_;
};

}  // namespace coordkit::testkit
