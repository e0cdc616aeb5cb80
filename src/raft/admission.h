// The gate for messages. A message that does not pass is dropped without any effect. Behind the gate, handlers see only
// messages that a correct member of this group could have sent. Voting::begins_new_term decides whether a term is new, and
// term_reach.h decides how far it is believed.
#pragma once

#include "raft/campaigning.h"
#include "raft/leading.h"

namespace coordkit::raft {

class Admission {
 public:
  // `leader_of_term`: LeaderNews::leader. `leading`, `campaigning`: null if we do not.
  Admission(const Options& options, const Log& log, const Leadership& leadership, ReplicaId leader_of_term,
            const Leading* leading, const Campaigning* campaigning)
      : options_(options),
        log_(log),
        leadership_(leadership),
        leader_of_term_(leader_of_term),
        leading_(leading),
        campaigning_(campaigning) {}

  bool admits(ReplicaId from, const Message& message) const;

 private:
  bool well_formed(ReplicaId from, const VoteRequest& request) const;
  bool well_formed(ReplicaId from, const VoteReply& reply) const;
  bool well_formed(ReplicaId from, const AppendRequest& request) const;
  bool well_formed(ReplicaId from, const AppendReply& reply) const;
  bool well_formed(ReplicaId from, const Heartbeat& heartbeat) const;
  bool well_formed(ReplicaId from, const HeartbeatReply& reply) const;
  bool well_formed(ReplicaId from, const TimeoutNow& order) const;
  bool well_formed(ReplicaId from, const Removed& news) const;
  bool legitimate_leader(ReplicaId from, Term claimed) const;
  bool admitted_from_nonmember(ReplicaId from, const Message& message) const;

  const Options& options_;
  const Log& log_;
  const Leadership& leadership_;
  const ReplicaId leader_of_term_;
  const Leading* leading_;
  const Campaigning* campaigning_;
};

}  // namespace coordkit::raft
