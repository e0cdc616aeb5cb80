// The content of a log at one moment: what the model of a node's log consists of, and what observers compare. The chain of
// an entry sums up the entry and all before it, so "the same prefix" is one comparison.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "coordkit/ports/log_store.h"

namespace coordkit::sim {

uint64_t chain_hash(uint64_t previous, const raft::Entry& entry);

struct LogImage {
  struct Record {
    raft::Entry entry;  // what was written
    uint64_t chain = 0;
    bool rotten = false;  // and is no longer readable
  };
  raft::HardState hard_state;
  std::map<Term, ReplicaId> votes;  // all this store ever gave
  Position base;
  uint64_t base_chain = 0;
  std::deque<Record> records;
  std::vector<PeerMark> peers;

  Index first() const { return base.index.next(); }
  Index last() const { return base.index + records.size(); }
  bool contains(Index index) const { return index > base.index && index <= last(); }
  const Record& at(Index index) const { return records[index - base.index - 1]; }
  Term last_term() const { return records.empty() ? base.term : records.back().entry.term; }
  // Chain after `index`; the caller knows base <= index <= last.
  uint64_t chain(Index index) const { return index == base.index ? base_chain : at(index).chain; }

  void write(const LogWrite& write, uint64_t reset_chain = 0);  // of the position it restarts after
  void rot(Index index);
  void forget(Position through);
  void reset(Position new_base, uint64_t chain);
};

}  // namespace coordkit::sim
