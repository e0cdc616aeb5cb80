// One campaign of a (pre-)candidate (thesis 3.4, 9.6). It exists from its vote requests until it is won, lost or given up. So
// no vote of one campaign counts for another.
#pragma once

#include "raft/log/raft_log.h"
#include "raft/outbox.h"
#include "raft/quorum.h"

namespace coordkit::raft {

class Campaigning {
 public:
  // `round` names this campaign; answers to an older one are stale.
  Campaigning(ReplicaId self, VoteKind kind, Cause cause, uint64_t round)
      : self_(self), kind_(kind), cause_(cause), round_(round) {}

  // Asks all that have not answered for their votes in `term`. The requests leave when the write `after` is durable.
  void ask_for_votes(Term term, WriteNumber after, const Log& log, Outbox& out) const;
  // When the voters that have not answered are asked again.
  LaggingTime next_question() const { return next_question_; }
  void ask_again_at(LaggingTime at) { next_question_ = at; }
  // Whether this is an answer to this campaign. The answer to a pre-vote carries the voter's own term, whatever it is.
  bool answered_by(const VoteReply& reply, Term term) const;
  void receive(ReplicaId from, const VoteReply& reply);
  // Its own vote counts only once the write that stores it is durable (regression R13).
  bool won(const Log& log) const;

 private:
  ReplicaId self_;
  VoteKind kind_;
  Cause cause_;
  uint64_t round_;
  VoteSet votes_;
  VoteSet answered_;
  LaggingTime next_question_;
};

}  // namespace coordkit::raft
