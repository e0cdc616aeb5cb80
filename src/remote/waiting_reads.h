// Questions of remotes about the history of keys that wait for a change (docs/decisions/0052).
//
// A question that has passed the end of history has seen every change of its range. So all that wait for one range are a group,
// and the group has no place of its own. After each turn the new history is read once for all groups. A group whose range it
// touches is answered by one piece, encoded once, and is gone: its askers ask again, from the next place.
//
// Pure: the state is given to each call. Threads: one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "coordkit/bytes.h"
#include "coordkit/ports/clock.h"
#include "coordkit/types.h"
#include "machine/keys/watch_index.h"
#include "machine/reads.h"

namespace coordkit::remote {

class WaitingReads {
 public:
  struct Asker {
    ReplicaId remote;
    uint64_t id = 0;  // of its question
    friend auto operator<=>(const Asker&, const Asker&) = default;
  };
  struct Answer {
    Asker to;
    machine::ChangesAfter place = {};  // as it asked
    SharedBytes bytes;                 // of machine::Changes
  };

  // It is answered by a serve() with a state at or beyond `at_least`, with something new or after `limit`.
  void add(const Asker& asker, machine::ChangesAfter place, Index at_least, LaggingTime limit);
  void withdraw(const Asker& asker);  // without effect if it does not wait
  void withdraw_all(ReplicaId remote);

  // The answers that there are after a turn.
  std::vector<Answer> serve(const machine::Reads& state, Index applied, LaggingTime now);
  // The state is another one, and perhaps much later: each group is looked at by itself.
  void restored() { restored_ = true; }

  bool has(const Asker& asker) const { return waiters_.contains(asker); }
  size_t of(ReplicaId remote) const {
    const auto found = counts_.find(remote);
    return found == counts_.end() ? 0 : found->second;
  }
  // When serve() would answer something even if nothing was applied.
  bool ready(Index applied) const { return !fresh_.empty() && fresh_.begin()->first <= applied; }
  LaggingTime next_limit() const { return limits_.empty() ? LaggingTime::max() : limits_.begin()->first; }
  size_t groups() const { return groups_.size(); }
  uint64_t encodings() const { return encodings_; }  // of answers, so far

 private:
  // Those that wait for the same: a change of these keys. `from` zero: the next one, else of that revision or later.
  using Range = machine::ChangesAfter;
  struct Group {
    Range range;
    absl::btree_set<Asker> askers;
  };
  struct Waiter {
    machine::ChangesAfter place;
    Index at_least;
    LaggingTime limit;
    WatchId group;  // none: it was not looked at yet
  };

  void serve_groups(const machine::Reads& state);
  void take_fresh(const machine::Reads& state, Index applied);
  void expire(const machine::Reads& state, LaggingTime now);
  absl::btree_set<WatchId> touched(const machine::Reads& state) const;
  void serve_group(WatchId id, const machine::Reads& state);
  void join(const Asker& asker, Waiter& waiter);
  void leave(const Asker& asker, WatchId group);
  machine::ChangesAfter place_of(const Range& range) const;
  // Null: there is nothing new. The bytes stay until the end of the turn.
  const SharedBytes* piece(const machine::ChangesAfter& place, const machine::Reads& state);
  SharedBytes encoded(machine::Changes changes);
  void answer(const Asker& asker, const SharedBytes& bytes);

  absl::btree_map<Asker, Waiter> waiters_;
  absl::btree_map<ReplicaId, size_t> counts_;              // of waiters
  absl::btree_set<std::pair<Index, Asker>> fresh_;         // not in a group yet, by the state that they need
  absl::btree_set<std::pair<LaggingTime, Asker>> limits_;  // of those in groups
  absl::btree_map<WatchId, Group> groups_;
  absl::btree_map<Range, WatchId> by_range_;
  machine::WatchIndex index_;  // of the groups
  Revision seen_;              // all groups have seen everything up to it
  bool restored_ = false;
  absl::btree_map<machine::ChangesAfter, SharedBytes> pieces_;  // of this turn, by place
  std::vector<Answer> answers_;                                 // of this turn
  uint64_t last_group_ = 0;
  uint64_t encodings_ = 0;
};

}  // namespace coordkit::remote
