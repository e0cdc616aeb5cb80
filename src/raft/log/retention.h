// Which entries of the log must stay on disk. Those that no checkpoint covers stay. Older entries stay if others still lack
// them, up to two budgets of bytes (docs/decisions/0023).
#pragma once

#include "coordkit/raft/core.h"
#include "raft/log/log_weight.h"

namespace coordkit::raft {

class Retention {
 public:
  Retention(const Options& options, Index base, Position checkpoint);

  // ---- the log as it changes
  void append(Index index, size_t bytes);
  void truncate_after(Index index);
  void compact(Index through);
  void reset(Index base);

  // Reported by the host; `commit` is the log's.
  void checkpointed(const Checkpointed& checkpoint, Index commit);
  void installed(Position at);
  void pin(Index after) { pinned_ = after; }

  // As the leader stated with its latest heartbeats, to itself as well; zero: nothing is needed.
  void needed_by_others(Index after) { needed_ = after; }
  Index needed_by_others() const { return needed_; }

  Index pinned() const { return pinned_; }
  Index checkpoint() const { return checkpoint_.index; }
  bool lag_exceeded_after(Index index) const { return lag_.reached_after(index); }
  // Entries up to here may be removed: `everyone_has` them, or they exceed the budgets. `needed`: others need the entries
  // after it.
  Index removable(Index everyone_has, Index needed) const;

 private:
  Position checkpoint_;
  LogWeight retained_;  // against log_retained_bytes
  LogWeight pinnable_;  // against log_pinned_bytes
  LogWeight lag_;       // against follower_lag_bytes_max
  Index unreadable_;    // entries up to here are damaged on our disk; zero: none
  Index pinned_;        // peers that are sent a state will ask for the entries after it; zero: there is no such peer
  Index needed_;
};

}  // namespace coordkit::raft
