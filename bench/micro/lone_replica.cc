#include "bench/micro/lone_replica.h"

#include <chrono>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coordkit/engine/coordination_machine.h"

namespace coordkit::bench {

using namespace std::chrono_literals;

LoneReplica::LoneReplica() : now_{LaggingTime(1s), LeadingTime(1s)} {
  EngineOptions options;
  options.raft.self = ReplicaId(1);
  options.raft.seed = 1;
  options.members = {{ReplicaId(1), "", {}}};
  options.new_cluster = ClusterId(4711);
  options.start = 1;
  std::vector<HostedMachine> machines;
  machines.push_back(coordination_machine());
  COORDKIT_CHECK(state_.open(*this).ok());
  absl::StatusOr<RecoveredLog> recovered = log_.open(*this);
  engine_ = *Engine::recover(std::move(options), std::move(machines), *std::move(recovered), **state_.view(), now_);
  client_.emplace(*engine_, ClientOptions{});
  until([this] { return engine_->leadership().role == raft::Role::Leader; });
}

LoneReplica::~LoneReplica() { client_->stop(); }

SessionRef LoneReplica::open_session() {
  std::optional<SessionRef> session;
  client_->open_session({.ttl = 60s}, [&](absl::StatusOr<SessionRef> opened) { session = *std::move(opened); });
  until([&] { return session.has_value(); });
  return *session;
}

void LoneReplica::turn() {
  now_.lagging += 50us;
  now_.leading += 50us;
  client_->before_turn(now_);
  engine_->turn(now_, effects_);
  client_->after_turn(now_, effects_);
  for (LogWrite& write : effects_.writes) log_.submit(std::move(write));
  for (const raft::ReadRequest& read : effects_.log_reads) log_.read(read.first, read.last, read.bytes_max);
  if (effects_.checkpoint) state_.commit(*std::move(effects_.checkpoint));
  if (effects_.compact) log_.compact(*effects_.compact);
}

void LoneReplica::until(const std::function<bool()>& condition) {
  while (!condition()) turn();
}

}  // namespace coordkit::bench
