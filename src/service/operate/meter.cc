#include "service/operate/meter.h"

namespace coordkit {

void Meter::received(size_t bytes, bool well_formed) {
  PeerMetrics& peers = metrics_.peers;
  peers.bytes_received += bytes;
  ++(well_formed ? peers.messages_received : peers.malformed);
}

void Meter::arrived(const EngineInput& input, LaggingTime now) {
  ++metrics_.turns.arrivals;
  if (const auto* written = std::get_if<LogWritten>(&input)) {
    ++metrics_.log.reports;
    for (; !writes_.empty() && writes_.front().first <= written->number; writes_.pop_front()) {
      metrics_.log.durable.add(now - writes_.front().second);
    }
  } else if (std::holds_alternative<StateCheckpointed>(input) && checkpoint_) {
    ++metrics_.state.checkpoints;
    metrics_.state.durable.add(now - *checkpoint_);
    checkpoint_.reset();
  }
}

void Meter::turned(const EngineEffects& effects, LaggingTime now) {
  ++metrics_.turns.turns;
  for (const LogWrite& write : effects.writes) {
    ++metrics_.log.writes;
    metrics_.log.entries += write.entries.size();
    for (const raft::Entry& entry : write.entries) metrics_.log.bytes += entry.payload.size();
    writes_.emplace_back(write.number, now);
  }
  if (effects.checkpoint) {
    checkpoint_ = now;
    metrics_.state.rows += effects.checkpoint->rows.size();
    for (const CheckpointBatch::Row& row : effects.checkpoint->rows) {
      metrics_.state.bytes += row.key.size() + (row.value ? row.value->size() : 0);
    }
  }
  if (effects.restored) ++metrics_.state.restored;
  if (effects.leadership && effects.leadership->leader && effects.leadership->term > term_) {
    term_ = effects.leadership->term;
    ++metrics_.consensus.leaders;
    if (effects.leadership->role == raft::Role::Leader) ++metrics_.consensus.won;
  }
}

void Meter::sent(const Frame& frame) {
  ++metrics_.peers.messages_sent;
  metrics_.peers.bytes_sent += frame.body.size();
}

Metrics Meter::read() const {
  Metrics metrics = metrics_;
  metrics.log.waiting = writes_.size();
  return metrics;
}

}  // namespace coordkit
