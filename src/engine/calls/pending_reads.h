// This replica's linearizable reads, from entry to the moment when its own applied state may answer (thesis 6.4).
//
// Reads are collected into batches. On the leader a batch costs one confirmation; elsewhere one message to
// the leader, with growing ids, so that one answer releases every older batch (tests named REG_R64). Ids grow over boots too:
// an answer to an earlier incarnation's question is older than everything this one asks, and releases nothing.
// Invariants: every read ends once; a read that ended leaves nothing behind (R75).
#pragma once

#include <optional>
#include <vector>

#include "absl/container/btree_set.h"
#include "base/flat_table.h"
#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class Reads {
 public:
  // Ids of a boot are above those of all earlier boots.
  Reads(Duration retry, BootCounter boot) : retry_(retry), newest_(boot.value() << 32), asked_(newest_) {}

  void ask(Ask ask);
  // No question needed: to be answered from a state applied up to at least `index`.
  void await(Index index, Ask ask);
  void forget(Ticket ticket);

  // Leadership changed: pending questions are asked again, and so is what the former leader confirmed and is not reached: it
  // may have named an entry that never comes (FLT_S12).
  void leadership_changed();
  // The id of a batch to ask the leader about now, or zero. Asking means: everything asked so far needs this answer.
  uint64_t question(LaggingTime now);
  // The leader held at `read_index` for every batch up to `id`.
  void confirmed(uint64_t id, Index read_index);

  // Reads that may be answered from a state applied up to `applied`.
  void collect(Index applied, std::vector<Ask>& ready);
  bool expire(LaggingTime now, std::vector<Completion>& completions);  // as Proposals::expire()
  void fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions);

  LaggingTime next_deadline(bool leader_known) const;
  size_t size() const { return reads_.size(); }
  size_t bytes() const { return bytes_; }  // of the questions

 private:
  struct Read {
    Ask ask;
    uint64_t batch = 0;
    std::optional<Index> index;  // confirmed: to be answered from a state that is at least this
  };
  bool fresh() const { return unconfirmed_.rbegin()->first > asked_; }
  Ask take(Ticket ticket);

  Duration retry_;
  uint64_t newest_;  // the batch that new reads join
  uint64_t asked_;   // newest batch the leader was asked about
  LaggingTime ask_again_{};
  FlatMap<Ticket, Read> reads_;
  size_t bytes_ = 0;
  // I: every read is in deadlines_ and in exactly one of the other two.
  absl::btree_set<std::pair<LaggingTime, Ticket>> deadlines_;
  absl::btree_set<std::pair<uint64_t, Ticket>> unconfirmed_;  // by batch
  absl::btree_set<std::pair<Index, Ticket>> confirmed_;       // waiting for apply
};

}  // namespace coordkit::engine
