// The counters of a host itself, beside those of engine, client and transport.
#include "machine/reads.h"
#include "replica/operate/host_health.h"

namespace coordkit {

Metrics HostHealth::metrics_now() const {
  const Client& client = sources_.turns->client();
  Metrics metrics = sources_.turns->meter().read();
  const Arrivals::Waiting waiting = sources_.arrivals.waiting();
  metrics.turns.waiting = waiting.arrivals;
  metrics.turns.waiting_bytes = waiting.mail_bytes;
  metrics.turns.messages_lost = waiting.mails_lost;
  metrics.log.written_bytes = sources_.stores.log_bytes_written();
  const Engine& engine = sources_.turns->engine();
  const EngineStatus status = engine.status();
  metrics.peers.rejected = status.rejected;
  metrics.peers.tcp = sources_.peers.counters();
  metrics.consensus.term = engine.leadership().term;
  metrics.consensus.leads = engine.leadership().role == raft::Role::Leader;
  metrics.consensus.applied = status.applied;
  if (status.core) {
    metrics.consensus.commit = status.core->commit;
    metrics.consensus.durable = status.core->durable;
    metrics.memory.log_bytes = status.core->cached_bytes + sources_.stores.log_index_bytes();
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
