// What a host counts itself, beside the counters of engine, client and transport.
#include "machine/reads.h"
#include "replica/host.h"

namespace coordkit {

Metrics Host::metrics(const Client& client) {
  Metrics metrics = meter_.read();
  const Arrivals::Waiting waiting = arrivals_.waiting();
  metrics.turns.waiting = waiting.arrivals;
  metrics.turns.waiting_bytes = waiting.mail_bytes;
  metrics.turns.messages_lost = waiting.mails_lost;
  const EngineStatus status = engine_->status();
  metrics.peers.rejected = status.rejected;
  metrics.peers.tcp = peers_.counters();
  metrics.consensus.term = engine_->leadership().term;
  metrics.consensus.leads = engine_->leadership().role == raft::Role::Leader;
  metrics.consensus.applied = status.applied;
  if (status.core) {
    metrics.consensus.commit = status.core->commit;
    metrics.consensus.durable = status.core->durable;
    metrics.memory.log_bytes = status.core->cached_bytes;
  }
  metrics.commands = client.command_statistics();
  metrics.locks = client.lock_statistics();
  metrics.renewals = client.renewal_statistics();
  metrics.memory.request_bytes = status.request_bytes;
  if (const StateMachine* machine = engine_->machine(kCoordination); machine != nullptr && machine->reads() != nullptr) {
    metrics.memory.contents = machine->reads()->contents();
  }
  return metrics;
}

}  // namespace coordkit
