#include "testing/fake_disk.h"

#include <chrono>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coordkit/engine/coordination_machine.h"
#include "testing/opened.h"

namespace coordkit::testkit {
namespace {

using std::chrono::milliseconds;

constexpr ReplicaId kSelf{1};

EngineOptions engine_options(uint64_t start) {
  EngineOptions options;
  options.raft.self = kSelf;
  options.raft.election_timeout = milliseconds(300);
  options.raft.heartbeat_interval = milliseconds(60);
  options.raft.seed = 1;
  options.members = {{kSelf, "here"}};
  options.new_cluster = ClusterId(1);
  options.token_base = uint64_t{1} << 31;
  options.start = start;
  return options;
}

}  // namespace

std::unique_ptr<Engine> FakeDisk::start_replica(StoreEvents& events, Now now) {
  RecoveredLog recovered = opened(log_.open(events), "the fake's log");
  opened(state_.open(events), "the fake's state");
  std::vector<HostedMachine> machines;
  machines.push_back(coordination_machine());
  return opened(Engine::recover(engine_options(++starts_), std::move(machines), std::move(recovered),
                                *opened(state_.view(), "the fake's state"), now),
                "the fake's engine");
}

void FakeDisk::carry_out(EngineEffects& effects) {
  for (LogWrite& write : effects.writes) log_.submit(std::move(write));
  for (const raft::ReadRequest& read : effects.log_reads) log_.read(read.first, read.last, read.bytes_max);
  if (effects.checkpoint) state_.commit(*std::move(effects.checkpoint));
  if (effects.compact) log_.compact(*effects.compact);
  COORDKIT_CHECK_MSG(!effects.halted, "the fake's replica halted: " + effects.halted->ToString());
}

void FakeDisk::close() {
  log_.close();
  state_.close();
}

}  // namespace coordkit::testkit
