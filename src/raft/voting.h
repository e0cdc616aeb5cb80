// Decides which replicas may campaign, and which candidate gets our vote (thesis 3.6.1, 4.1, 4.2.2, 4.2.3, 6.2, 9.6). These
// are decisions on a view of the core; nothing is changed here.
#pragma once

#include "raft/leader_news.h"
#include "raft/log/raft_log.h"

namespace coordkit::raft {

class Voting {
 public:
  Voting(const Options& options, const Log& log, const Leadership& leadership, const LeaderNews& news, LaggingTime now)
      : options_(options), log_(log), leadership_(leadership), news_(news), now_(now) {}

  bool hears_leader() const;
  bool electable() const;
  bool may_campaign() const;
  // Ignores the rule of one vote per term.
  bool suits(const VoteRequest& request) const;
  // Stickiness (thesis 4.2.3): the request disturbs a live leader.
  bool disturbs_leader(const VoteRequest& request) const;
  bool begins_new_term(ReplicaId from, const Message& message) const;
  // The sender is no longer a voter, and does not know it.
  bool lost_vote_unawares(ReplicaId from, const VoteRequest& request) const;
  // The same, and the sender is no learner either.
  bool removed_unawares(ReplicaId from, const VoteRequest& request) const;

 private:
  bool leads() const { return leadership_.role == Role::Leader; }
  bool own_store() const;
  bool may_vote(const VoteRequest& request) const;

  const Options& options_;
  const Log& log_;
  const Leadership& leadership_;
  const LeaderNews& news_;
  LaggingTime now_;
};

}  // namespace coordkit::raft
