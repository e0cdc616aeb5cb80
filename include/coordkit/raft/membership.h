// Requests to change the set of members or the leader, and their outcomes. Thesis 3.10, 4.1 - 4.3.
#pragma once

#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/raft/entry.h"

namespace COORDKIT_EXPORT coordkit {
namespace raft {

// One request. Several in one change take effect together, applied in their order.
struct MemberChange {
  enum class Kind : uint8_t {  // numbers are on the wire: never reused, never renumbered
    AddLearner = 1,            // `member`, whole, is new
    Promote = 2,               // a learner that is caught up gets a vote
    Demote = 3,                // a voter becomes a learner
    Remove = 4,                // voter or learner
    // `replaced` is removed. `member` takes its place: at once if it is a learner already, as a new
    // learner if not. The same id with another store is another member (a wiped or exchanged disk).
    Replace = 5,
  };
  Kind kind = Kind::AddLearner;  // the request; it says which of the next two count
  Member member;                 // Promote, Demote, Remove: only its id counts
  ReplicaId replaced = {};       // Replace
  friend bool operator==(const MemberChange&, const MemberChange&) = default;
};

// Committed: the final configuration is committed, at `configuration`. Overwritten: a later
// leader's log has another entry there. All other kinds except Unknown are refusals at the
// entrance, without any effect.
struct ChangeOutcome {
  enum class Kind : uint8_t {  // numbers are on the wire: never reused, never renumbered
    Committed = 1,
    Overwritten = 2,
    NotLeader = 3,
    ChangeInProgress = 4,  // a change, or an entry of this term, is not committed yet, or
                           // leadership is being handed over
    Conflict = 5,          // the expected configuration is not the one in force
    NotEnoughVoters = 6,   // no majority of the new voters answers
    LearnerLags = 7,       // a member to be promoted is not within promotion_lag_max, or does not
                           // answer
    LastVoter = 8,         // no voter would be left
    UnknownMember = 9,     // or not in that role
    AlreadyMember = 10,    // or nothing would change, or the store is another member's
    NoRoom = 11,
    // Not a refusal: a state was installed over its place in the log; the configuration in force
    // tells.
    Unknown = 12,
  };
  Ticket ticket;                // of the ChangeMembership
  Kind kind = Kind::Committed;  // the reason or the end
  Index configuration;          // of the final entry; zero with all kinds except Committed
  friend bool operator==(const ChangeOutcome&, const ChangeOutcome&) = default;
};

// Done: the target leads a later term. Lost: another replica does. Expired: at the deadline neither
// was known; this leader continues if it still leads. The other kinds are refusals at once. Unfit:
// the target is no voter, or no voter at all answers.
struct TransferOutcome {
  // Numbers are on the wire: never reused, never renumbered.
  enum class Kind : uint8_t { Done = 1, Lost = 2, Expired = 3, NotLeader = 4, InProgress = 5, Unfit = 6 };
  Ticket ticket;           // of the Transfer
  Kind kind = Kind::Done;  // the reason or the end
  friend bool operator==(const TransferOutcome&, const TransferOutcome&) = default;
};

}  // namespace raft
}  // namespace coordkit
