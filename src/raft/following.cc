// The follower's half of replication (thesis 3.5): our log becomes equal to the leader's, and we acknowledge what the leader
// has proved.
#include <algorithm>

#include "base/check.h"
#include "raft/core_impl.h"

namespace coordkit::raft {

void Core::Impl::follow(ReplicaId leader) {
  news_.leader = leader;
  news_.received(now_);
  election_timer_.arm(now_);
  if (roles_.role() != Role::Follower || roles_.leader() != leader) roles_.request({Role::Follower, log_.term(), leader});
}

void Core::Impl::receive(ReplicaId from, const Heartbeat& heartbeat) {
  HeartbeatReply reply{.term = log_.term(), .stream = heartbeat.stream, .round = heartbeat.round};
  if (heartbeat.term == log_.term()) {
    follow(from);
    commit_verified(heartbeat.commit, heartbeat.everyone_has);
    news_.receive(heartbeat, now_, log_.applied());
    log_.retention().needed_by_others(heartbeat.needed);
    reply.match = std::min(news_.verified, log_.durable());
  }
  outbox_.send(from, log_.disk().covering_term(), reply);
}

// Acknowledges what this request proved and nothing more (regression R05). The answer leaves once everything up to there is
// durable, even if this message wrote nothing new.
void Core::Impl::receive(ReplicaId from, AppendRequest& request) {
  AppendReply reply{.term = log_.term(),
                    .stream = request.stream,
                    .verdict = AppendVerdict::Conflict,
                    .rejected = request.previous.index,
                    .round = request.round};
  WriteNumber after = log_.disk().covering_term();
  if (request.term == log_.term()) {
    if (contradicts(from, request)) return;
    follow(from);
    if (log_.agrees(request.previous)) {
      COORDKIT_CHECK_MSG(!leading_, "INV_R05 a leader never truncates");
      reply.verdict = AppendVerdict::Accepted;
      reply.rejected = Index();
      reply.match = request.previous.index + request.entries.size();
      if (log_.adopt(request.entries)) news_.removed = false;
      COORDKIT_CHECK_MSG(reply.match <= log_.last().index, "INV_R05");
      news_.matches_through(reply.match);
      commit_verified(request.commit, request.everyone_has);
      after = std::max(after, log_.disk().covering(reply.match));
    } else {
      reply.hint = log_.cache().last_not_above(request.previous.index, request.previous.term);
    }
  }
  outbox_.send(from, after, reply);
}

// An acknowledgement of such a request would promise entries that this log does not have, at positions where no later check
// would look for them. A leader whose log ends too early may have entries that are equal to ours in term and index, before our
// base, and the end alone shows that they are others.
bool Core::Impl::contradicts(ReplicaId from, const AppendRequest& request) {
  const auto found = [&](Position theirs, Position ours) {
    if (!outbox_.contradiction) outbox_.contradiction = Contradiction{from, request.term, theirs, ours};
    return true;
  };
  const auto differs = [&](Position theirs, uint64_t sum) {
    const std::optional<Position> ours = contradicted(log_, theirs, sum);
    return ours && found(theirs, *ours);
  };
  const bool ends_early = request.last && request.last < news_.leader_has;
  if (ends_early) return found({request.last, Term()}, {news_.leader_has, log_.term_at(news_.leader_has).value_or(Term())});
  return differs(request.previous, request.previous_sum) ||
         std::ranges::any_of(request.entries, [&](const Entry& entry) { return differs(entry.position(), entry.content_sum); });
}

// A commit index counts only as far as our log is known to be the leader's (regression R24).
void Core::Impl::commit_verified(Index leader_commit, Index everyone_has) {
  log_.raise_commit(std::min(leader_commit, news_.verified));
  log_.raise_everyone_has(everyone_has);
}

}  // namespace coordkit::raft
