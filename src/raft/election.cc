// Elections: pre-vote (thesis 9.6), votes (3.4), stickiness and check-quorum (4.2.3, 6.2) as one protocol that is always on.
//
//   Follower --silence--> PreCandidate --quorum would vote--> Candidate --quorum voted, own vote durable--> Leader
//       ^------------------- a later term, a legitimate leader, or a leader's quorum gone silent ------------'
//
// A pre-vote changes nothing on either side (regression R10). Only a legitimate leader's message and a granted real vote
// restart a follower's timer (R51).
#include <algorithm>

#include "base/check.h"
#include "raft/core_impl.h"

namespace coordkit::raft {
namespace {

// INV_R21: the only ways from one role to another (thesis fig. 3.3, with the pre-vote phase of 9.6 before each candidacy
// except those that the leader asked for, 3.10).
bool allowed(Role from, Role to, Cause cause) {
  switch (to) {
    case Role::Follower: return true;
    case Role::PreCandidate: return from != Role::Leader;
    case Role::Candidate: return from == Role::PreCandidate || (from == Role::Follower && cause == Cause::Transfer);
    case Role::Leader: return from == Role::Candidate;
  }
  return false;
}

}  // namespace

Admission Core::Impl::admission() const {
  return {*options_, log_, roles_.now(), news_.leader, leading(), campaigning_ ? &*campaigning_ : nullptr};
}

// ---- voting

void Core::Impl::receive(ReplicaId from, const VoteRequest& request) {
  const WriteQueue& disk = log_.disk();
  if (voting().removed_unawares(from, request)) {
    const Position proof = log_.cache().configuration_at(log_.commit()).at;
    return outbox_.send(from, std::max(disk.covering_term(), disk.covering(proof.index)), Removed{log_.term(), proof});
  }
  const bool granted = grant(from, request);
  const bool binding = granted && request.kind == VoteKind::Real;
  const Answer answer = granted ? Answer::Yes : Answer::No;
  outbox_.send(from, binding ? disk.covering_vote() : disk.covering_term(),
               VoteReply{.kind = request.kind, .term = log_.term(), .round = request.round, .granted = answer});
}

bool Core::Impl::grant(ReplicaId from, const VoteRequest& request) {
  if (!voting().suits(request)) return false;
  if (request.kind == VoteKind::Pre) return request.term > log_.term();
  const ReplicaId vote = log_.disk().hard_state().vote;
  if (request.term != log_.term() || (vote && vote != from)) return false;
  if (vote == from) return true;  // asked again: nothing new is promised, and no time is gained
  log_.set_hard_state({log_.term(), from});
  election_timer_.arm(now_);
  if (roles_.role() != Role::Follower) roles_.step_down(log_.term());
  return true;
}

// A message from a leader or a newer configuration ends the silence (regression R41). At one index only one configuration is
// committed, and either side may know only an upper bound of its term.
void Core::Impl::receive(ReplicaId, const Removed& news) {
  const Position own = log_.configuration_position();
  const bool old = newer(own, news.configuration) && own.index != news.configuration.index;
  if (leading_ || old) return;
  news_.removed = true;
  if (roles_.role() != Role::Follower) roles_.step_down(log_.term());
}

// A follower that gets this order campaigns without a pre-vote (3.10). If its disk still has a vote to store, the campaign
// would only waste a term.
void Core::Impl::receive(ReplicaId, const TimeoutNow&) {
  if (roles_.role() != Role::Follower || !voting().may_campaign()) return;
  roles_.request({Role::Candidate, log_.term(), ReplicaId(), Cause::Transfer});
}

// ---- the four roles

void Core::Impl::perform(const Transition& transition) {
  COORDKIT_CHECK_MSG(allowed(roles_.role(), transition.role, transition.cause), "INV_R21 role");
  COORDKIT_CHECK_MSG(transition.term >= log_.term(), "INV_R03 term");
  switch (transition.role) {
    case Role::Follower: return become_follower(transition);
    case Role::PreCandidate:
    case Role::Candidate: return begin_campaign(transition.role, transition.cause);
    case Role::Leader: return become_leader();
  }
}

void Core::Impl::become_follower(const Transition& transition) {
  if (transition.term > log_.term()) {
    log_.set_hard_state({transition.term, ReplicaId()});
    news_.term_began(log_.commit());
  }
  if (leading_) {
    leading_->refuse_questions(outbox_);
    election_timer_.arm(now_);
  }
  leading_.reset();
  campaigning_.reset();
  news_.hold_back = false;
  roles_.enter({Role::Follower, log_.term(), transition.leader});
}

// A pre-candidate asks for the term after its own and does not enter it; a candidate votes for itself in a new one.
void Core::Impl::begin_campaign(Role role, Cause cause) {
  const bool real = role == Role::Candidate;
  if (real) {
    log_.set_hard_state({log_.term().next(), options_->self});
    news_.term_began(log_.commit());
    election_timer_.arm(now_);
  }
  roles_.enter({role, log_.term(), ReplicaId()});
  const VoteKind kind = real ? VoteKind::Real : VoteKind::Pre;
  campaigning_.emplace(options_->self, kind, cause, election_timer_.next_campaign());
  ask_for_votes();
}

// A question or its answer may have been lost (FLT_N01). Voters that have not answered are asked again after about a
// heartbeat interval, in the same round and term, until the campaign ends. The network may repeat a message as well, so this
// needs no argument of its own (docs/safety.md).
void Core::Impl::ask_for_votes() {
  const bool real = roles_.role() == Role::Candidate;
  const WriteNumber after = real ? log_.disk().covering_vote() : log_.disk().covering_term();
  campaigning_->ask_for_votes(real ? log_.term() : log_.term().next(), after, log_, outbox_);
  campaigning_->ask_again_at(now_ + election_timer_.scattered(options_->heartbeat_interval));
}

// While the candidate's own vote is not durable, the first request has not left.
LaggingTime Core::Impl::next_question() const {
  const bool left = campaigning_ && log_.disk().hard_state_durable();
  return left ? campaigning_->next_question() : LaggingTime::max();
}

// Thesis 3.6.2, 6.4: the leader first appends an entry of its own term, so that everything before it can be committed and
// read.
void Core::Impl::become_leader() {
  campaigning_.reset();
  news_.leader = options_->self;
  roles_.enter({Role::Leader, log_.term(), options_->self});
  leading_.emplace(*options_, log_, streams_, now_);
  append(EntryKind::LeaderStart, {});
}

}  // namespace coordkit::raft
