#include "sim/nodes/outbox.h"

#include <fmt/format.h>

#include <utility>

#include "sim/faults/defects.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {

void Outbox::carry_out(EngineEffects& effects) {
  if (effects.peers) parts_.lists.connects_to(parts_.plan.member_at(node_), *effects.peers);
  for (LogWrite& write : effects.writes) submit(write);
  if (effects.checkpoint) {
    parts_.watcher.checkpointing(node_, *effects.checkpoint);
    stores_.state().commit(*std::move(effects.checkpoint));
  }
  for (const raft::ReadRequest& read : effects.log_reads) stores_.log().read(read.first, read.last, read.bytes_max);
  transfers_.perform(effects);
  parts_.watcher.turned(node_, effects);
  for (Outbound& outbound : effects.sends) send(outbound);
  if (effects.compact) stores_.log().compact(*effects.compact);
}

// Effects may be carried out in any order, so a crash may leave any of them undone; writes are a prefix.
void Outbox::carry_out_part(EngineEffects& effects) {
  const uint64_t writes = random_.below(effects.writes.size() + 1);
  for (uint64_t i = 0; i < writes; ++i) submit(effects.writes[i]);
  if (writes == effects.writes.size()) parts_.watcher.turned(node_, effects);
  for (Outbound& outbound : effects.sends) {
    if (random_.chance(0.5)) send(outbound);
  }
}

void Outbox::submit(LogWrite& write) {
  parts_.watcher.writing(node_, write);
  stores_.log().submit(std::move(write));
}

void Outbox::send(Outbound& outbound) {
  parts_.watcher.sending(node_, outbound.to, outbound.message);
  const uint32_t to = static_cast<uint32_t>(outbound.to.value() - 1);
  const uint32_t self = parts_.plan.member_at(node_);
  if (to >= parts_.plan.nodes || to == self) {
    throw Violation("INV_R21", fmt::format("n{} sends to replica {}", node_ + 1, outbound.to.value()));
  }
  if (!parts_.lists.has_address(self, outbound.to)) return;
  if (parts_.plan.through_wire) outbound.message = through_wire(outbound.message);
  answer_early(parts_.defects, inbox_, outbound);
  parts_.network.send(node_, place_of(to), std::move(outbound.message));
}

// Where a peer knows this member to be.
uint32_t Outbox::place_of(uint32_t member) const {
  for (uint32_t place = parts_.plan.nodes; place < parts_.plan.places(); ++place) {
    if (parts_.plan.member_at(place) == member && parts_.network.connected(node_, place)) return place;
  }
  return member;
}

}  // namespace coordkit::sim
