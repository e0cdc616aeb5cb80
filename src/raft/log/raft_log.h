// The replica's own log and hard state: its entries, how far they are durable, committed and applied, and which may be
// removed.
//
//   base <= checkpoint <= applied <= commit <= last        durable <= last
//
// Every change of the log goes through here, so that the cache, the writes and the weights always speak of the same entries.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coordkit/raft/core.h"
#include "raft/log/log_cache.h"
#include "raft/log/retention.h"
#include "raft/log/write_queue.h"
#include "raft/position.h"

namespace coordkit::raft {

// No counter gets this far in the life of a cluster; the headroom keeps `+ 1` and batch arithmetic from wrapping.
inline constexpr uint64_t kCountMax = ~uint64_t{0} - (uint64_t{1} << 32);

class Log {
 public:
  Log(const Options& options, Recovered recovered);

  // ---- entries
  Position base() const { return cache_.base(); }
  Position last() const { return cache_.last(); }
  bool full() const { return last().index.value() >= kCountMax; }
  std::optional<Term> term_at(Index index) const { return cache_.term_at(index); }
  const LogCache& cache() const { return cache_; }
  // The members in force: the newest of the log, or members that a peer knows to be committed and the log does not have yet.
  const Configuration& configuration() const;
  Position configuration_position() const;  // of their entry
  bool goes_by_told() const;
  const SettledMembers& told() const { return told_; }
  bool learn(SettledMembers told);  // false: the told members do not come into force by it

  void append(Entry&& entry);  // right after last()
  void truncate_after(Index index);
  // The entries after a position at which the logs agree. True: the members changed.
  bool adopt(std::vector<Entry>& entries);
  bool agrees(Position previous) const;
  void start_after(const Installed& installed);
  bool checkpointed_beyond_base() const { return retention_.checkpoint() > base().index; }  // else nothing can be forgotten
  // Forgets the entries that need not be kept; others still need the entries after `needed`. nullopt: nothing was removed.
  std::optional<Position> compact(Index needed);

  // ---- how far it got
  Index commit() const { return commit_; }
  Index applied() const { return applied_; }
  Index everyone_has() const { return everyone_has_; }
  void raise_commit(Index to);
  void raise_applied(Index to);
  void raise_everyone_has(Index to);
  void evict_applied();
  Retention& retention() { return retention_; }
  const Retention& retention() const { return retention_; }
  // Entries after this are needed by others, as far as a follower knows.
  Index needed_as_follower() const;

  // ---- its disk
  Term term() const { return disk_.hard_state().term; }
  const WriteQueue& disk() const { return disk_; }
  Index durable() const { return disk_.durable(); }
  void set_hard_state(const HardState& next) { disk_.set_hard_state(next); }
  std::optional<LogWrite> take_write() { return disk_.take(cache_); }
  void written(WriteNumber number) { disk_.written(number); }

  // ---- the part of the log that this disk has lost
  // False: the disk may have been rolled back to an older state. Until checked, it neither votes, campaigns nor acknowledges.
  bool rollback_checked() const { return rollback_checked_; }
  void rollback_check_passed() { rollback_checked_ = true; }
  Position floor() const { return floor_; }
  bool lacks_promised() const;
  // Whether a log that ends there is at least as long as ours, including the part that ours has lost.
  bool reached_by(Position last) const;
  void drop_reached_floor();

 private:
  const Options& options_;
  LogCache cache_;
  WriteQueue disk_;
  Retention retention_;
  Index commit_;        // INV_R03: never falls
  Index applied_;       // the cache may drop entries up to here
  Index everyone_has_;  // every member has these durably: stays true until another configuration has other members
  bool rollback_checked_;
  Position floor_;       // held once, or committed, and beyond the end of the log; zero: nothing is lacking
  SettledMembers told_;  // told by a peer
};

SettledMembers settled_members(const Log& log);
// Whether a leader's log with this entry, with these contents unless zero, belongs to another history than ours. If so: our own
// position that shows it.
std::optional<Position> contradicted(const Log& log, Position theirs, uint64_t their_sum);
Position durable_position(const Log& log);  // zero: its term is not known any more

}  // namespace coordkit::raft
