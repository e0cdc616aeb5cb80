// The replicated log as the core sees it: the term of every entry, the newest entries themselves, and the configuration
// in force. The log store has the rest.
//
//   base ... evicted (in the log store only) ... first_cached ... last
//
// The configuration takes effect when its entry is appended and is undone when that entry is truncated (thesis 4.1).
#pragma once

#include <span>
#include <vector>

#include "coordkit/raft/entry.h"
#include "raft/log/term_runs.h"

namespace coordkit::raft {

class LogCache {
 public:
  LogCache(Position base, Configuration configuration, Index configuration_index, std::vector<Entry> entries);

  Position base() const { return terms_.base(); }
  Position last() const { return terms_.last(); }
  std::optional<Term> term_at(Index index) const { return terms_.at(index); }
  Position last_not_above(Index index, Term term) const { return terms_.last_not_above(index, term); }

  void append(Entry&& entry);  // right after last()
  void truncate_after(Index index);
  void compact(Index through);
  void reset(Position base, Configuration configuration, Index configuration_index);  // starts again, empty

  size_t bytes() const { return bytes_; }               // of the cached entries, as limits count it
  size_t memory_bytes() const;                          // the memory that they take
  Index first_cached() const { return first_cached_; }  // last + 1 when nothing is cached
  uint64_t content_sum_at(Index index) const;           // of the cached entries and the one before them; zero: not known
  // Entries [first, last] that are cached: at most `bytes_max` but at least one; none if `first` is not cached.
  std::span<const Entry> cached(Index first, Index last, size_t bytes_max) const;
  void forget(Index through);  // drops the cached entries up to there
  // Drops the oldest entries while more than `bytes_max` are cached, but none beyond `through`.
  void evict(Index through, size_t bytes_max);

  struct InForce {
    Position at;  // of its entry; before the base: its term is an upper bound
    Configuration configuration;
  };
  const InForce& configuration_at(Index index) const;  // the configuration in force there; base <= index
  const InForce& in_force() const { return configurations_.back(); }

 private:
  void drop_front(size_t count);

  TermRuns terms_;
  std::vector<Entry> entries_;  // from dropped_ on: first_cached_ ... last
  size_t dropped_ = 0;          // slots at the front that are already given up
  Index first_cached_;
  uint64_t sum_before_ = 0;              // content sum of the entry before first_cached_; zero: not known
  size_t bytes_ = 0;                     // of the cached entries
  std::vector<InForce> configurations_;  // by index; the last is in force
};

}  // namespace coordkit::raft
