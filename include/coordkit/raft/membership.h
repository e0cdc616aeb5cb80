// What can be asked of the set of members, and how it ends. Thesis 4.1 - 4.3.
#pragma once

#include "coordkit/raft/entry.h"

namespace coordkit::raft {

// One wish. Several in one change take effect together, applied in their order.
struct MemberChange {
  enum class Kind : uint8_t {
    AddLearner,  // `member`, whole, is new
    Promote,     // a learner that is caught up gets a vote
    Demote,      // a voter becomes a learner
    Remove,      // voter or learner
    Replace,     // `replaced` goes. `member` takes its place: at once if it is a learner already, as a new learner if not.
                 // The same id with another store is another member (a wiped or exchanged disk).
  };
  Kind kind = Kind::AddLearner;
  Member member;       // Promote, Demote, Remove: only its id counts
  ReplicaId replaced;  // Replace
};

// Committed: the final configuration is, at `configuration`. Overwritten: a later leader's log has something else there.
// All others are refusals at the door, without any effect.
struct ChangeFate {
  enum class Kind : uint8_t {
    Committed,
    Overwritten,
    NotLeader,
    ChangeInProgress,  // one is not committed yet, nor is an entry of this term, or leadership is being handed over
    Conflict,          // the expected configuration is not the one in force
    NotEnoughVoters,   // no majority of the new voters answers
    LearnerLags,       // one to be promoted is not within promotion_lag_max, or does not answer
    LastVoter,         // nobody would be left to vote
    UnknownMember,     // or not in that role
    AlreadyMember,     // or nothing would change
    NoRoom,
    Unknown,  // not a refusal: a peer's state was installed over its place in the log; the configuration in force tells
  };
  Ticket ticket;
  Kind kind = Kind::Committed;
  Index configuration;
  friend bool operator==(const ChangeFate&, const ChangeFate&) = default;
};

}  // namespace coordkit::raft
