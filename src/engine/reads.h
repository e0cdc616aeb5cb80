// This replica's linearizable reads, from the door to the moment when its own applied state may answer (thesis 6.4).
//
// Reads are gathered into batches. On the leader a batch costs one confirmation; elsewhere one message to
// the leader, with growing ids, so that one answer releases every older batch (regressions R64).
#pragma once

#include <deque>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "coordkit/engine.h"

namespace coordkit::engine {

class Reads {
 public:
  // Ids start anew with every boot, above those of all boots before: an answer to a question of an earlier incarnation,
  // late on the wire, must not confirm a read of this one.
  Reads(Duration retry, BootCounter boot) : retry_(retry), newest_(boot.value() << 32), asked_(newest_) {}

  void ask(Ask ask);
  void forget(Ticket ticket);

  // Leadership changed: whatever was asked is asked again.
  void leadership_changed() { ask_again_ = LaggingTime::min(); }
  // The id of a batch to ask the leader about now, or zero. Asking means: everything asked so far needs this answer.
  uint64_t question(LaggingTime now);
  // The leader held at `read_index` for every batch up to `id`.
  void confirmed(uint64_t id, Index read_index);

  // Reads that may be answered from a state applied up to `applied`.
  void collect(Index applied, std::vector<Ask>& ready);
  void expire(LaggingTime now, std::vector<Completion>& completions);
  void fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions);

  LaggingTime next_deadline(bool leader_known) const;
  size_t size() const { return deadlines_.size(); }

 private:
  Duration retry_;
  uint64_t newest_;        // batch that new questions join
  uint64_t asked_;         // newest batch the leader was asked about
  LaggingTime ask_again_{};
  absl::btree_map<uint64_t, std::vector<Ask>> batches_;   // not yet confirmed
  std::deque<std::pair<Index, Ask>> confirmed_;           // waiting for apply
  absl::btree_set<std::pair<LaggingTime, Ticket>> deadlines_;
  absl::flat_hash_map<Ticket, LaggingTime> waiting_;      // I: the same tickets as deadlines_
};

}  // namespace coordkit::engine
