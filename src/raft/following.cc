// The follower's half of replication (thesis 3.5): what the leader's log is, our log becomes; what it proved, we acknowledge.
#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "raft/core_impl.h"

namespace coordkit::raft {

void Core::Impl::follow(ReplicaId leader) {
  leader_contact_ = now_;
  quiet_ = false;
  arm_election_timer();
  if (leadership_.role != Role::Follower || leadership_.leader != leader) request({Role::Follower, term(), leader});
}

void Core::Impl::receive(ReplicaId from, const Heartbeat& heartbeat) {
  HeartbeatReply reply{.term = term(), .stream = heartbeat.stream, .round = heartbeat.round};
  if (heartbeat.term == term()) {
    follow(from);
    learn(heartbeat.commit, heartbeat.everyone_has);
    freshness_.told(heartbeat.committed, now_, applied_);
    leader_commit_ = std::max(leader_commit_, heartbeat.committed);
    told_to_hold_back_ = heartbeat.hold_back;
    told_needed_ = heartbeat.needed;
    reply.match = std::min(verified_, disk_.durable());
  }
  send(from, disk_.covering_term(), reply);
}

// Acknowledges what this request proved and nothing more (regression R05), once everything up to there is durable, even
// if this message wrote nothing new.
void Core::Impl::receive(ReplicaId from, AppendRequest& request) {
  AppendReply reply{.term = term(),
                    .stream = request.stream,
                    .verdict = AppendVerdict::Conflict,
                    .rejected = request.previous.index,
                    .round = request.round};
  WriteNumber after = disk_.covering_term();
  if (request.term == term()) {
    follow(from);
    if (agrees(request.previous)) {
      reply.verdict = AppendVerdict::Accepted;
      reply.rejected = Index();
      reply.match = request.previous.index + request.entries.size();
      adopt(request.entries);
      if (mutant(Mutant::AcknowledgesOwnLast)) reply.match = log_.last().index;
      COORDKIT_CHECK_MSG(reply.match <= log_.last().index, "INV_R05");
      verified_ = std::max(verified_, reply.match);
      learn(request.commit, request.everyone_has);
      if (!mutant(Mutant::AcknowledgesUnsynced)) after = std::max(after, disk_.covering(reply.match));
    } else {
      reply.hint = log_.last_not_above(request.previous.index, request.previous.term);
    }
  }
  send(from, after, reply);
}

// Log matching (thesis 3.5): one equal position means an equal prefix. Up to our commit index the logs are equal anyway,
// because a leader has everything committed (3.6.3); this also covers what lies before our base (regression R21).
bool Core::Impl::agrees(Position previous) const {
  if (previous.index < commit_) return true;
  const std::optional<Term> own = log_.term_at(previous.index);
  return own == previous.term || (own && mutant(Mutant::AgreesByIndex));
}

// Keeps what is equal, truncates at the first real conflict only (regression R19), appends the rest.
void Core::Impl::adopt(std::vector<Entry>& entries) {
  for (Entry& entry : entries) {
    if (entry.index <= log_.base().index) continue;
    const std::optional<Term> own = log_.term_at(entry.index);
    if (own == entry.term && !mutant(Mutant::TruncatesAlways)) continue;
    if (own) truncate_after(entry.index.previous());
    append(std::move(entry));
  }
}

void Core::Impl::truncate_after(Index index) {
  COORDKIT_CHECK_MSG(!leads(), "INV_R05 a leader never truncates");
  COORDKIT_CHECK_MSG(index >= commit_, "INV_R10 truncation of committed entries");
  log_.truncate_after(index);
  retained_.truncate_after(index);
  pinnable_.truncate_after(index);
  lag_.truncate_after(index);
  disk_.truncated_after(index);
}

// A commit index counts only as far as our log is known to be the leader's (regression R24).
void Core::Impl::learn(Index leader_commit, Index everyone_has) {
  raise_commit(std::min(leader_commit, mutant(Mutant::CommitUnclamped) ? log_.last().index : verified_));
  everyone_has_ = std::max(everyone_has_, std::min(everyone_has, commit_));
}

}  // namespace coordkit::raft
