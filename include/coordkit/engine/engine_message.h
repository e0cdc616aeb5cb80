// All messages from one replica's engine to another's. Plain values; wire.h turns them into bytes
// and back.
//
// Answers to proposals do not travel. The proposing replica applies the same log and finds the
// result under its own request id. Only facts that the log does not carry have a message here.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "coordkit/engine/state_transfer.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/peer_mark.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/raft/membership.h"
#include "coordkit/raft/raft_message.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// "This is how the cluster was born": from a member that has the genesis durable, to a blank
// replica. At the birth itself it goes to the replicas it names. Later the leader sends it to the
// stores that the configuration in force names, and says so.
struct GenesisOffer {
  // As stored in entry 1 of every log.
  raft::Genesis genesis;
  StoreId invited;  // set by the leader of a cluster that already exists: only the data directory
                    // with this id may take it. Zero: at birth
  friend bool operator==(const GenesisOffer&, const GenesisOffer&) = default;
};

// Commands to append, from a follower to the leader. Lost messages are sent again; apply recognises
// repeats.
struct Forward {
  std::vector<SharedBytes> commands;  // payloads of Command entries, as the router encodes them
  friend bool operator==(const Forward&, const Forward&) = default;
};

// "Not I": the receiver of a Forward, ReadIndexRequest or RenewRequest does not lead, or has no
// room for more.
struct Refusal {
  // Why it was refused. This version sends NotLeader only. Numbers are on the wire.
  enum class Why : uint8_t { NotLeader = 1, NoRoom = 2 };
  Why why = Why::NotLeader;  // why nothing was done
  Term term;                 // the sender's own
  ReplicaId leader;          // zero: none known
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// Asks the leader for an index at which a read is linearizable. Ids grow; one answer releases all
// smaller ids.
struct ReadIndexRequest {
  uint64_t id = 0;  // of this sender's boot
  friend bool operator==(const ReadIndexRequest&, const ReadIndexRequest&) = default;
};
// The leader's answer, also when it has lost its leadership meanwhile.
struct ReadIndexReply {
  uint64_t id = 0;                       // echoed; it answers all smaller ids too
  raft::Answer held = raft::Answer::No;  // No: leadership was lost; the asker asks again
  Index read_index;                      // a state from this entry on is recent; zero with No
  friend bool operator==(const ReadIndexReply&, const ReadIndexReply&) = default;
};

// Renews every timer of a group except the excluded ones, in one message, without a log entry
// (docs/time.md T3). A count and a sum state which timers the sender believes to be covered. So the
// leader can tell whether both sides mean the same set.
struct RenewRequest {
  struct Group {                    // the timers of one group that the sender wants renewed
    TimerGroup group;               // as the machine armed its timers with it
    TimerId highest;                // newest timer that the sender knows; newer ones are not
                                    // covered
    uint64_t count = 0;             // of the covered timers
    uint64_t sum = 0;               // of timer_set_hash over them, modulo 2^64
    std::vector<TimerId> excluded;  // locally lost, as far as the sender knew at `as_of`; ascending
    friend bool operator==(const Group&, const Group&) = default;
  };
  uint64_t attempt = 0;               // of this sender's boot; every attempt has a fresh number
  MachineId machine = kCoordination;  // whose timers they are
  std::vector<Group> groups;          // at most kRenewGroupsMax
  // Timers whose remaining time is requested, renewed or not; ascending, at most kTimerLooksMax.
  std::vector<TimerId> looks;
  // The entry up to which the sender had learned of its timers. The sender did not give up a timer
  // that a later entry armed, although an earlier process may have had that timer. Zero: unknown.
  Index as_of = {};
  friend bool operator==(const RenewRequest&, const RenewRequest&) = default;
};

// The most timers whose remaining time one RenewRequest asks for.
inline constexpr size_t kTimerLooksMax = 1024;

// The answer to a RenewRequest, sent once a quorum has confirmed the leader after the request came.
struct RenewReply {
  // Which timers of a group were renewed. Numbers are on the wire.
  enum class Coverage : uint8_t {
    All = 1,        // exactly the set the sender meant
    AllExcept = 2,  // that set without the listed ones (their end is under way)
    Only = 3,       // the two sides differ: only the listed ones were renewed
  };
  // One answer for each group of the request, in the same order.
  struct Group {
    TimerGroup group;                    // as requested
    Coverage coverage = Coverage::Only;  // says how to read `listed`
    std::vector<TimerId> listed;         // ascending
    friend bool operator==(const Group&, const Group&) = default;
  };
  struct Remaining {  // the time left to one timer
    TimerId timer;    // one of RenewRequest::looks
    Duration left{};  // until its end may be proposed, by the leader's clock; zero: now
    friend bool operator==(const Remaining&, const Remaining&) = default;
  };
  uint64_t attempt = 0;          // of the request
  std::vector<Group> groups;     // in the order of the request
  std::vector<Remaining> looks;  // for the requested timers that exist
  friend bool operator==(const RenewReply&, const RenewReply&) = default;
};

// Asks the leader for a change of members, by compare-and-change. It is accepted only if the
// configuration in force at the leader is the entry `expected`. So the log shows whether it took
// effect, even if the answer is lost.
struct ChangeRequest {
  uint64_t attempt = 0;  // of this sender's boot; every attempt has a fresh number
  Index expected;        // the index of its entry; any other: Conflict
  // At most kChangesMax, applied in their order.
  std::vector<raft::MemberChange> changes;
  friend bool operator==(const ChangeRequest&, const ChangeRequest&) = default;
};
// The leader's answer to a ChangeRequest.
struct ChangeReply {
  uint64_t attempt = 0;  // of the request
  // Committed, or why not.
  raft::ChangeOutcome::Kind outcome = raft::ChangeOutcome::Kind::NotLeader;
  Index configuration;  // Committed: of the final one
  ReplicaId lagging;    // LearnerLags: the learner, and its distance in entries
  uint64_t lag = 0;     // zero with other outcomes; with LearnerLags: it is only silent
  friend bool operator==(const ChangeReply&, const ChangeReply&) = default;
};

// Asks the leader to hand leadership over. Target zero: to the voter that is best prepared.
struct TransferRequest {
  uint64_t attempt = 0;  // of this sender's boot; every attempt has a fresh number
  ReplicaId target;      // zero: the leader chooses
  Duration time_left{};  // after this time the leader resumes as if nothing had been requested
  friend bool operator==(const TransferRequest&, const TransferRequest&) = default;
};
// The leader's answer to a TransferRequest.
struct TransferReply {
  uint64_t attempt = 0;  // of the request
  // Done, or why not.
  raft::TransferOutcome::Kind outcome = raft::TransferOutcome::Kind::NotLeader;
  friend bool operator==(const TransferReply&, const TransferReply&) = default;
};

// "You lack entries that our log no longer has; my whole state at `at` is here." From the leader of
// `term`, until the peer asks.
struct StateOffer {
  Term term;            // of the offering leader
  Position at;          // the state is the one after this entry
  uint64_t digest = 0;  // of all rows (RowDigest)
  friend bool operator==(const StateOffer&, const StateOffer&) = default;
};

// Asks for the rows of a range, from its start; the sender chooses how many it sends at once. With
// `sum`: only unless the rows there have this sum.
struct StateRequest {
  Term term;                    // of the leader that offered it; another one does not answer
  Position at;                  // of the offer
  KeyRange range;               // an empty `upto`: to the end
  std::optional<uint64_t> sum;  // absent: the rows are wanted in any case
  friend bool operator==(const StateRequest&, const StateRequest&) = default;
};
struct StateChunk {  // the leader's answer to a StateRequest
  Term term;         // of the sending leader
  Position at;       // of the request
  StateRows rows;    // one range or the first part of it
  friend bool operator==(const StateChunk&, const StateChunk&) = default;
};

// "I have all of it and am installing it; keep the log after it for me." Repeated while that lasts.
struct StateLoading {
  Term term;    // as the sender knows it
  Position at;  // of the offer
  friend bool operator==(const StateLoading&, const StateLoading&) = default;
};

// "I was started again from my disk. What do you remember of it?" (docs/decisions/0009)
struct RecallRequest {
  StoreId store;       // of the sender's disk; its hello must name the same
  BootCounter boot;    // of this start
  uint64_t start = 0;  // drawn at this start
  friend bool operator==(const RecallRequest&, const RecallRequest&) = default;
};
// The answer to a RecallRequest, from a peer to which the asker has said hello.
struct RecallReply {
  RecallRequest asked;                // echoed
  PeerMark known;                     // before it was asked; zeros: nothing
  raft::SettledMembers settled = {};  // as known to the answering replica; empty from builds that
                                      // do not send it
  friend bool operator==(const RecallReply&, const RecallReply&) = default;
};

// "I am in quarantine": sent on every connection, and when the quarantine begins, so that the other
// members' operators hear of it (docs/faults.md). Empty where it ends without a new start.
struct SteppedAside {
  std::string why;  // a sentence, at most kSteppedAsideBytesMax; for people only
  friend bool operator==(const SteppedAside&, const SteppedAside&) = default;
};
inline constexpr size_t kSteppedAsideBytesMax = 1024;  // of SteppedAside::why

// The summand of RenewRequest::Group::sum. It is well mixed, so that different sets of equal size
// differ in their sums.
constexpr uint64_t timer_set_hash(TimerId id) {
  uint64_t z = id.value() + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// All messages between engines. encode() turns each into bytes.
using Message =
    std::variant<raft::VoteRequest, raft::VoteReply, raft::AppendRequest, raft::AppendReply, raft::Heartbeat,
                 raft::HeartbeatReply, GenesisOffer, Forward, Refusal, ReadIndexRequest, ReadIndexReply, RenewRequest,
                 RenewReply, raft::TimeoutNow, raft::Removed, StateOffer, StateRequest, StateChunk, StateLoading, ChangeRequest,
                 ChangeReply, TransferRequest, TransferReply, RecallRequest, RecallReply, SteppedAside>;

}  // namespace coordkit
