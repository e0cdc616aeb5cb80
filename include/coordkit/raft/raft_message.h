// Messages about consensus between the replicas of one group. Plain values; the wire form is in the
// engine's codec.
//
// Every message carries the sender's term. `stream` names one leader's append stream to one peer
// incarnation: an answer that echoes an older stream counts for nothing (regressions R03). `round`
// numbers leadership confirmation rounds.
#pragma once

#include <variant>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/raft/entry.h"

namespace COORDKIT_EXPORT coordkit {
namespace raft {

// Pre asks whether the replica would vote, and binds nobody (thesis 9.6). Real asks for the vote.
// Numbers are on the wire.
enum class VoteKind : uint8_t { Pre = 1, Real = 2 };
// Yes or no, as replies carry it. Numbers are on the wire.
enum class Answer : uint8_t { No = 0, Yes = 1 };
// Why a candidate campaigns: it heard no leader, or the leader told it to. Numbers are on the wire.
enum class Cause : uint8_t { Silence = 0, Transfer = 1 };

struct VoteRequest {  // thesis 3.4, 9.6
  // Always Real where `cause` is Transfer.
  VoteKind kind = VoteKind::Pre;
  Term term;           // Pre: the term it would campaign in; the sender's own term is one less
  uint64_t round = 0;  // of this candidate; an answer to an older round is stale
  Position last;       // of the candidate's log
  // Transfer: the leader itself asked for this campaign, so hearing that leader is no reason to
  // refuse (3.10).
  Cause cause = Cause::Silence;
  friend bool operator==(const VoteRequest&, const VoteRequest&) = default;
};

// The answer to a VoteRequest. A No is sent, too.
struct VoteReply {
  VoteKind kind = VoteKind::Pre;  // as requested
  Term term;                      // the voter's own term, so that the requester can adopt a
                                  // higher one
  uint64_t round = 0;             // echoed
  Answer granted = Answer::No;    // Real and Yes: leaves once the vote is durable
  friend bool operator==(const VoteReply&, const VoteReply&) = default;
};

struct AppendRequest {  // thesis 3.5
  Term term;            // in which the sender leads
  uint64_t stream = 0;  // of this leader to this receiver; echoed
  Position previous;    // of the entry before the first one
  // A probe has the content sum of the entry at previous: it tells two leaders of one term apart.
  // Zero: not known.
  uint64_t previous_sum = 0;
  // A probe has the last index of the leader's log, which never falls in a term. Zero: not known.
  Index last;
  std::vector<Entry> entries;  // contiguous after previous; empty: a probe
  Index commit;                // of the leader, as far as this request reaches
  Index everyone_has;          // every member holds the log up to here durably: it may be compacted
  uint64_t round = 0;          // of confirmation; echoed
  friend bool operator==(const AppendRequest&, const AppendRequest&) = default;
};

// Whether the follower's log agreed with the leader's at `previous`. Numbers are on the wire.
enum class AppendVerdict : uint8_t { Accepted = 1, Conflict = 2 };

// The answer to an AppendRequest. An Accepted leaves once `match` is durable.
struct AppendReply {
  Term term;                                        // the follower's; a later one ends the leader's
  uint64_t stream = 0;                              // echoed
  AppendVerdict verdict = AppendVerdict::Accepted;  // a request of an older term: Conflict
  // Accepted: durable here and proven equal to the leader's by this request (R05), and nothing
  // more.
  Index match;
  // Conflict: where the leader should look next (last entry of the largest term that may still
  // agree).
  Position hint;
  Index rejected;      // Conflict: `previous.index` of the refused request
  uint64_t round = 0;  // echoed
  friend bool operator==(const AppendReply&, const AppendReply&) = default;
};

// From a leader to every peer in each round, and to a peer that has to learn of a commit.
struct Heartbeat {
  Term term;            // the leader's
  uint64_t stream = 0;  // of this leader to this peer; echoed in the answer
  Index commit;         // min(commit, match of that peer)
  Index everyone_has;   // as in AppendRequest
  uint64_t round = 0;   // the confirmation round in which it was sent
  Index committed;      // the leader's own commit index: tells a follower how far behind it is
  // On the leader's own disk, which counts as one of a quorum. For those that remember it; no step
  // of the core uses it.
  Position durable;
  bool hold_back = false;  // a voter is too far behind: refuse new commands for now
                           // (Options::follower_lag_bytes_max)
  // A member catches up and needs the entries after it, from any later leader too; zero: none does.
  Index needed;
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

// The answer to a Heartbeat, also to one of an older term.
struct HeartbeatReply {
  Term term;            // the follower's own; a later one ends the leader's
  uint64_t stream = 0;  // echoed
  Index match;          // the durable acknowledgements of this stream so far; they tell the
                        // leader which parts got lost (R56)
  uint64_t round = 0;   // echoed
  friend bool operator==(const HeartbeatReply&, const HeartbeatReply&) = default;
};

// From the leader to a voter that has its whole log: campaign at once (thesis 3.10).
struct TimeoutNow {
  Term term;  // the leader's; only a follower of that leader, in that term, obeys
  friend bool operator==(const TimeoutNow&, const TimeoutNow&) = default;
};

// To a candidate that is no longer a voter and does not know it (thesis 4.2.3). The committed
// configuration at this position says so, and the candidate's log does not reach it. The candidate
// stays quiet until a leader sends it something.
struct Removed {
  Term term;               // of the replica that answers
  Position configuration;  // of the configuration entry; its term may be an upper bound
  friend bool operator==(const Removed&, const Removed&) = default;
};

// All messages of the core. Each has a `term`.
using Message =
    std::variant<VoteRequest, VoteReply, AppendRequest, AppendReply, Heartbeat, HeartbeatReply, TimeoutNow, Removed>;

}  // namespace raft
}  // namespace coordkit
