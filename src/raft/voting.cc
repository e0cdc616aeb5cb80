#include "raft/voting.h"

#include "raft/members/configuration_rules.h"
#include "raft/quorum.h"

namespace coordkit::raft {

// With leases, a leader that was heard counts, whatever term we have moved to since. So does a leader that an earlier
// incarnation of this replica may have heard: it may be serving reads based on our answer.
bool Voting::hears_leader() const {
  const bool promised = leadership_.leader || (options_.lease > Duration::zero());
  return leads() || (promised && now_ - news_.contact < options_.election_timeout);
}

// A campaign that the leader itself requested (3.10) disturbs nothing.
bool Voting::disturbs_leader(const VoteRequest& request) const { return hears_leader() && request.cause != Cause::Transfer; }

// A replica that hears a leader neither votes nor adopts a term from a vote request (thesis 4.2.3). A pre-vote raises no term
// either. Every other message of a later term does, answers included (regression R48).
bool Voting::begins_new_term(ReplicaId from, const Message& message) const {
  if (const auto* request = std::get_if<VoteRequest>(&message)) {
    if (lost_vote_unawares(from, *request)) return false;
    return request->kind == VoteKind::Real && request->term > log_.term() && !disturbs_leader(*request);
  }
  return std::visit([this](const auto& value) { return value.term > log_.term(); }, message);
}

// A voter campaigns if its disk has stored its last vote; with a stalled disk each attempt would only waste a term.
bool Voting::may_campaign() const {
  return log_.rollback_checked() && !log_.lacks_promised() && electable() && own_store() && !news_.removed &&
         log_.disk().hard_state_durable() && log_.term().value() < kCountMax;
}

// A vote names a replica, not its disk. Members that were learned may not have been committed yet in some term. In that term
// the former disk of one of them may have the vote. A pre-vote binds no voter, and without it terms might never get beyond
// that one.
bool Voting::suits(const VoteRequest& request) const {
  const bool one_disk = request.kind == VoteKind::Pre || request.term > log_.told().known_in;
  return may_vote(request) && !disturbs_leader(request) && log_.reached_by(request.last) && one_disk;
}

// ---- membership rules

// A replica's own log may not name it a voter, or may name its previous disk. It votes anyway if the candidate's log is newer
// and may name it (thesis 4.1). A majority of the new voters must not depend on which of them heard of the change first. A
// candidate accepts answers only from the stores that its own configuration names.
bool Voting::may_vote(const VoteRequest& request) const {
  return (own_store() && is_voter(log_.configuration(), options_.self)) || newer(request.last, log_.last());
}

bool Voting::own_store() const {
  const Member* self = member_of(log_.configuration(), options_.self);
  return !self || !options_.store || self->store == options_.store;
}

// A replica campaigns too if the entry that makes it no voter may be uncommitted: the others may need its longer log (thesis
// 4.2.2). It never counts itself. The configuration entry before the newest is committed, whatever is known here about
// commits after a restart. Then the replica may have to learn that the newest is committed, too.
bool Voting::electable() const {
  const Index newest = log_.configuration_position().index;
  const Index sure = log_.commit() < newest ? newest.previous() : log_.commit();
  return is_voter(log_.configuration(), options_.self) ||
         is_voter(log_.cache().configuration_at(sure).configuration, options_.self);
}

// The sender is a voter neither in the committed configuration nor in a possible later one. Besides, its log does not reach
// the entry that took its vote. Or there is a leader, and the sender does not know that the entry is committed.
bool Voting::lost_vote_unawares(ReplicaId from, const VoteRequest& request) const {
  const auto& [position, committed] = log_.cache().configuration_at(log_.commit());
  return !is_voter(log_.configuration(), from) && !is_voter(committed, from) &&
         (newer(position, request.last) || disturbs_leader(request));
}

bool Voting::removed_unawares(ReplicaId from, const VoteRequest& request) const {
  const Configuration& committed = log_.cache().configuration_at(log_.commit()).configuration;
  const bool learns = is_member(log_.configuration(), from) || is_member(committed, from);
  return !learns && lost_vote_unawares(from, request);
}

}  // namespace coordkit::raft
