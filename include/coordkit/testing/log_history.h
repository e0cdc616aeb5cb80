// A random history of writes to a log store, and the question how many of them a medium holds.
// After power cuts and killed processes it must hold some number of the writes, from the first one
// on.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "coordkit/ports/log_store.h"
#include "coordkit/testing/entries.h"

namespace coordkit::testkit {

// The content of a log, in the plainest form.
struct PlainLog {
  raft::HardState hard_state;        // newest term and vote
  Position base;                     // the position before the first entry
  std::vector<raft::Entry> entries;  // after the base
  std::vector<PeerMark> peers;       // marks of peers, as last written

  // Does what a log store does with this write, repairs excepted.
  void write(const LogWrite& write) {
    if (write.hard_state) hard_state = *write.hard_state;
    if (write.reset_to) base = *write.reset_to, entries.clear();
    if (write.truncate_after) entries.resize(write.truncate_after->value() - base.index.value());
    entries.insert(entries.end(), write.entries.begin(), write.entries.end());
    if (write.peers) peers = *write.peers;
  }
  // Whether a store has recovered exactly this, with no damaged entry.
  bool same_as(const RecoveredLog& found) const {
    return found.hard_state == hard_state && found.base == base && found.entries == entries && found.peers == peers &&
           found.damaged.empty();
  }
};

// The same seed gives the same writes, in every process.
class LogHistory {
 public:
  explicit LogHistory(uint64_t seed) : random_(seed) {}

  // Numbers rise from 1. Most writes append. Some raise the term, cut the end off, or have marks of
  // peers.
  LogWrite next() {
    LogWrite write{.number = WriteNumber(writes_.size() + 1)};
    const uint64_t kind = random_() % 8;
    if (kind == 0) {
      term_ = term_ + 1;
      write.hard_state = raft::HardState{Term(term_), ReplicaId(1 + random_() % 3)};
    }
    if (kind == 0 && last_ > base_ + 2) write.truncate_after = Index(last_ = last_ - random_() % 2);
    if (kind == 1) write.peers = {{StoreId(7), BootCounter(writes_.size() + 1), 5, Term(term_), ReplicaId(), {}}};
    return with_entries(std::move(write), kind == 0 ? 1 : 1 + random_() % 3);
  }
  // The same, and discards everything before it: a peer's state was installed.
  LogWrite reset() {
    LogWrite write{.number = WriteNumber(writes_.size() + 1)};
    last_ = base_ = last_ + 5;
    write.reset_to = Position{Index(base_), Term(term_)};
    return with_entries(std::move(write), 2);
  }
  uint64_t size() const { return writes_.size(); }
  // The largest number of writes that leave exactly this content; nullopt: no number does.
  std::optional<uint64_t> writes_in(const RecoveredLog& found) const {
    PlainLog log;
    std::optional<uint64_t> fits;
    if (log.same_as(found)) fits = 0;
    for (uint64_t i = 0; i < writes_.size(); ++i) {
      log.write(writes_[i]);
      if (log.same_as(found)) fits = i + 1;
    }
    return fits;
  }

 private:
  LogWrite with_entries(LogWrite write, uint64_t count) {
    write.entries = entries(last_ + 1, count, term_, 10 + random_() % 2000);
    last_ += count;
    writes_.push_back(write);
    return write;
  }

  std::mt19937_64 random_;
  std::vector<LogWrite> writes_;
  uint64_t term_ = 1;
  uint64_t base_ = 0;
  uint64_t last_ = 0;
};

}  // namespace coordkit::testkit
