// The naive twin of the log: its expected contents after each step, in a few lines.
#pragma once

#include <ostream>
#include <vector>

#include "log/log.h"

namespace coordkit::testkit {

struct LogModel {
  raft::HardState hard_state;
  Position floor;                    // of the last reset
  Position base;                     // of the last compaction; recovery may lag behind it
  std::vector<raft::Entry> entries;  // from floor + 1 on, compacted or not
  std::vector<PeerMark> peers;

  Position last() const { return entries.empty() ? floor : entries.back().position(); }

  void apply(const LogWrite& step) {
    if (step.hard_state) hard_state = *step.hard_state;
    if (step.peers) peers = *step.peers;
    if (step.reset_to) {
      floor = base = *step.reset_to;
      entries.clear();
    }
    while (step.truncate_after && last().index > *step.truncate_after) entries.pop_back();
    entries.insert(entries.end(), step.entries.begin(), step.entries.end());
  }

  std::vector<raft::Entry> after(Index index) const {
    return {entries.begin() + static_cast<std::ptrdiff_t>(index - floor.index), entries.end()};
  }

  bool agrees_with(const log::OpenedLog& opened) const {
    return opened.hard_state == hard_state && opened.base.index >= floor.index && opened.base.index <= base.index &&
           opened.entries == after(opened.base.index) && opened.peers == peers;
  }
};

// Two openings must have this in common.
inline bool same(const log::OpenedLog& a, const log::OpenedLog& b) {
  return a.hard_state == b.hard_state && a.base == b.base && a.entries == b.entries && a.damaged == b.damaged &&
         a.peers == b.peers;
}

}  // namespace coordkit::testkit
