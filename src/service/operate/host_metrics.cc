// The metrics of a host, read where they are counted.
#include "machine/reads.h"
#include "service/operate/host_health.h"

namespace coordkit {

Metrics metrics_of(EngineTurns& turns, const Arrivals& arrivals) {
  const Client& client = turns.client();
  Metrics metrics = turns.meter().read();
  const Arrivals::Waiting waiting = arrivals.waiting();
  metrics.turns.waiting = waiting.arrivals;
  metrics.turns.waiting_bytes = waiting.mail_bytes;
  metrics.turns.messages_lost = waiting.mails_lost;
  const Engine& engine = turns.engine();
  const EngineStatus status = engine.status();
  metrics.peers.rejected = status.rejected;
  metrics.consensus.term = engine.leadership().term;
  metrics.consensus.leads = engine.leadership().role == raft::Role::Leader;
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
  if (const StateMachine* machine = engine.machine(kCoordination); machine != nullptr && machine->reads() != nullptr) {
    metrics.memory.contents = machine->reads()->contents();
  }
  return metrics;
}

}  // namespace coordkit
