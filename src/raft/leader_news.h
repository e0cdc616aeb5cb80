// Everything that a replica has heard from leaders. It outlives roles and terms: a lease or a question may rest on it.
#pragma once

#include <algorithm>

#include "coordkit/raft/core.h"
#include "raft/freshness.h"

namespace coordkit::raft {

struct LeaderNews {
  LaggingTime contact;  // when a legitimate leader was last heard; with leases also when we started
  ReplicaId leader;     // of this term, once heard or won by ourselves, whether or not it still leads
  Index verified;       // our log is equal to this term's leader's up to here
  Index leader_has;     // committed before this term or this process began: each leader of the term has everything up to here
                        // (3.6.3)
  Index commit;         // the highest commit index that this term's leader has named
  bool hold_back = false;  // requested by the leader we follow
  bool removed = false;    // according to a peer: no campaign until a leader sends a message or a configuration comes
  Freshness freshness;

  // A leader's statements end with its term.
  void term_began(Index committed) {
    leader = ReplicaId();
    verified = commit = Index();
    leader_has = committed;
  }
  void received(LaggingTime now) {
    contact = now;
    removed = false;
  }
  void matches_through(Index index) { verified = std::max(verified, index); }
  void receive(const Heartbeat& heartbeat, LaggingTime now, Index applied) {
    freshness.received(heartbeat.committed, now, applied);
    commit = std::max(commit, heartbeat.committed);
    hold_back = heartbeat.hold_back;
  }
};

}  // namespace coordkit::raft
