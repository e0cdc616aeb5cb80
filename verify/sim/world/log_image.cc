#include "sim/world/log_image.h"

#include "base/check.h"
#include "base/sums.h"

namespace coordkit::sim {

uint64_t chain_hash(uint64_t previous, const raft::Entry& entry) {
  uint64_t h = hash_mix(previous, entry.index.value());
  h = hash_mix(h, entry.term.value());
  h = hash_mix(h, static_cast<uint64_t>(entry.kind));
  h = hash_mix(h, entry.content_sum);
  return hash_mix(h, hash_bytes(entry.payload.view()));
}

void LogImage::write(const LogWrite& write, uint64_t reset_chain) {
  if (write.hard_state) {
    hard_state = *write.hard_state;
    if (hard_state.vote) votes[hard_state.term] = hard_state.vote;
  }
  if (write.peers) peers = *write.peers;
  if (write.reset_to) reset(*write.reset_to, reset_chain);
  if (write.truncate_after) {
    COORDKIT_CHECK(*write.truncate_after >= base.index);
    while (last() > *write.truncate_after) records.pop_back();
  }
  for (const raft::Entry& entry : write.entries) {
    COORDKIT_CHECK_MSG(entry.index == last().next(), "a log write must continue the log");
    records.push_back({entry, chain_hash(chain(last()), entry)});
  }
  for (const raft::Entry& entry : write.repairs) {
    if (!contains(entry.index) || !at(entry.index).rotten) continue;
    Record& record = records[entry.index - base.index - 1];
    COORDKIT_CHECK_MSG(entry == record.entry, "a repair with another content");
    record.rotten = false;
  }
}

void LogImage::rot(Index index) {
  if (contains(index)) records[index - base.index - 1].rotten = true;
}

void LogImage::forget(Position through) {
  while (base.index < through.index && !records.empty()) {
    base = records.front().entry.position();
    base_chain = records.front().chain;
    records.pop_front();
  }
}

void LogImage::reset(Position new_base, uint64_t chain) {
  records.clear();
  base = new_base;
  base_chain = chain;
}

}  // namespace coordkit::sim
