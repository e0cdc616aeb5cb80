// Elections: pre-vote (thesis 9.6), votes (3.4), stickiness and check-quorum (4.2.3, 6.2) as one protocol that is always on.
//
//   Follower --silence--> PreCandidate --quorum would vote--> Candidate --quorum voted, own vote durable--> Leader
//       ^----------------------- a later term, a lawful leader, or a leader's quorum gone silent -----------------'
//
// A pre-vote changes nothing on either side (regression R10). Only a lawful leader's message and a granted real vote
// restart a follower's timer (R51).
#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "base/sums.h"
#include "raft/core_impl.h"

namespace coordkit::raft {
// ---- time

// A leader stops at the latest when another one could have been elected: an election timeout after it sent the last
// heartbeat that a quorum answered (thesis 6.2; regression R66). Before the input, so that a process that slept through
// it does not act on old mail first.
void Core::Impl::watch_time_before_input() {
  if (mutant(Mutant::LeadsInSilence)) return;
  if (leads() && now_ - quorum_contact() >= options_.election_timeout) request({Role::Follower, term(), ReplicaId()});
}

// A follower looks after the input: what it slept through may well have been a heartbeat.
void Core::Impl::watch_time_after_input() {
  if (leads()) {
    if (now_ < heartbeat_deadline_) return;
    heartbeat_due_ = true;
    heartbeat_deadline_ = now_ + options_.heartbeat_interval;
    watch_own_disk();
  } else if (now_ >= election_deadline_) {
    arm_election_timer();
    if (may_campaign()) request({mutant(Mutant::CampaignsUnasked) ? Role::Candidate : Role::PreCandidate, term(), ReplicaId()});
  }
}

void Core::Impl::arm_election_timer() {
  const auto jitter = static_cast<Duration::rep>(random_.below(static_cast<uint64_t>(options_.election_timeout.count())));
  election_deadline_ = now_ + options_.election_timeout + Duration(jitter);
}

// With leases a leader that was heard counts whatever term we have moved to since, and so does one that an earlier
// incarnation of ours may have heard: it may be answering reads by our word.
bool Core::Impl::hears_leader() const {
  if (mutant(Mutant::VotesAgainstItsLeader)) return leads();
  const bool promised = leadership_.leader || (options_.lease > Duration::zero() && !mutant(Mutant::LeasePromiseForgotten));
  return leads() || (promised && now_ - leader_contact_ < options_.election_timeout);
}

// Stickiness (thesis 4.2.3), but for a campaign that the leader itself wanted (3.10).
bool Core::Impl::refuses_company(const VoteRequest& request) const {
  return hears_leader() && request.cause != Cause::Transfer;
}

// A voter whose disk has swallowed its last vote; with a stalled one each attempt would only burn a term.
bool Core::Impl::may_campaign() const {
  return attested_ && !lacks_promised() && electable() && own_store() && !quiet_ && disk_.hard_state_durable() &&
         term().value() < kCountMax;
}

// ---- voting

bool Core::Impl::up_to_date(Position last) const {
  if (mutant(Mutant::ComparesIndexesOnly)) return last.index >= log_.last().index;
  if (lacks_promised() && newer(floor_, last)) return false;
  return !newer(log_.last(), last);
}

// A durable log that goes as far as the lost one did holds all that was acknowledged with it: of the same term it is the same
// log up to there, and a leader of a later term had all of it before its own first entry (docs/safety.md, lemma D4).
void Core::Impl::drop_reached_floor() {
  if (!floor_.index) return;
  const Position durable{disk_.durable(), log_.term_at(disk_.durable()).value_or(Term())};
  if (!newer(floor_, durable)) floor_ = {};
}

// Whoever hears a leader neither votes nor adopts a term from a vote request (thesis 4.2.3); nor does a pre-vote raise any
// term. Every other message of a later term does, answers included (regression R48).
bool Core::Impl::begins_new_term(ReplicaId from, const Message& message) const {
  if (const auto* request = std::get_if<VoteRequest>(&message)) {
    if (removed_unawares(from, *request)) return false;
    return request->kind == VoteKind::Real && request->term > term() && !refuses_company(*request);
  }
  if (mutant(Mutant::LaterTermUnheard) && std::holds_alternative<VoteReply>(message)) return false;
  return std::visit([this](const auto& value) { return value.term > term(); }, message);
}

void Core::Impl::receive(ReplicaId from, const VoteRequest& request) {
  if (removed_unawares(from, request)) {
    const Position proof = log_.configuration_at(commit_).at;
    return send(from, std::max(disk_.covering_term(), disk_.covering(proof.index)), Removed{term(), proof});
  }
  const bool granted = grant(from, request);
  const bool binding = granted && request.kind == VoteKind::Real && !mutant(Mutant::VoteSentEarly);
  send(from, binding ? disk_.covering_vote() : disk_.covering_term(),
       VoteReply{.kind = request.kind, .term = term(), .round = request.round, .granted = granted ? Answer::Yes : Answer::No});
}

bool Core::Impl::grant(ReplicaId from, const VoteRequest& request) {
  if (!may_vote(request) || refuses_company(request) || !up_to_date(request.last)) return false;
  if (mutant(Mutant::PreVoteRestartsTimer) && request.kind == VoteKind::Pre) arm_election_timer();
  if (request.kind == VoteKind::Pre) return request.term > term();
  const ReplicaId vote = disk_.hard_state().vote;
  if (request.term != term() || (vote && vote != from && !mutant(Mutant::VotesTwice))) return false;
  disk_.set_hard_state({term(), from});
  arm_election_timer();
  if (leadership_.role != Role::Follower) this->request({Role::Follower, term(), ReplicaId()});
  return true;
}

void Core::Impl::receive(ReplicaId from, const VoteReply& reply) {
  if (reply.granted == Answer::Yes && reply.round == vote_round_) votes_.grant(from);
}

// A leader's word or a newer configuration ends the silence (regression R41).
void Core::Impl::receive(ReplicaId, const Removed& news) {
  const bool old = newer(log_.configuration_position(), news.configuration) && !mutant(Mutant::OldRemovalObeyed);
  if (leads() || old) return;
  quiet_ = true;
  if (leadership_.role != Role::Follower) request({Role::Follower, term(), ReplicaId()});
}

// The own vote of a candidate counts, and it leads, only once the write that stores it is durable (regression R13).
void Core::Impl::count_votes() {
  if (requested_ || (leadership_.role != Role::PreCandidate && leadership_.role != Role::Candidate)) return;
  if (!disk_.hard_state_durable() && !mutant(Mutant::LeadsBeforeOwnVote)) return;
  if (!quorum_agrees(configuration(), [this](ReplicaId id) { return is_self(id) || votes_.contains(id); })) return;
  request({leadership_.role == Role::PreCandidate ? Role::Candidate : Role::Leader, term(), ReplicaId()});
}

void Core::Impl::ask_for_votes(VoteKind kind, Term campaign_term, WriteNumber after) {
  votes_.clear();
  if (kind == VoteKind::Pre || !mutant(Mutant::LatePreVoteCounts)) ++vote_round_;
  for (const ReplicaId peer : peers_of(configuration(), options_.self)) {
    if (!is_voter(configuration(), peer)) continue;
    send(peer, after,
         VoteRequest{.kind = kind, .term = campaign_term, .round = vote_round_, .last = log_.last(), .cause = cause_});
  }
}

// ---- the four roles

void Core::Impl::become_follower(const Transition& transition) {
  if (transition.term > term()) {
    disk_.set_hard_state({transition.term, ReplicaId()});
    verified_ = Index();
  }
  if (leads()) {
    refuse_questions();
    peers_.clear();
    arm_election_timer();
    if (mutant(Mutant::DeposedLeaderSticks)) leader_contact_ = now_;
  }
  told_to_hold_back_ = false;
  const bool sticks = leads() && mutant(Mutant::DeposedLeaderSticks);
  leadership_ = {Role::Follower, term(), sticks ? options_.self : transition.leader};
}

void Core::Impl::become_pre_candidate() {
  cause_ = Cause::Silence;
  if (mutant(Mutant::PreVoteRaisesTerm)) disk_.set_hard_state({term().next(), ReplicaId()});
  leadership_ = {Role::PreCandidate, term(), ReplicaId()};
  ask_for_votes(VoteKind::Pre, term().next(), disk_.covering_term());
}

void Core::Impl::become_candidate() {
  disk_.set_hard_state({term().next(), options_.self});
  verified_ = Index();
  leadership_ = {Role::Candidate, term(), ReplicaId()};
  arm_election_timer();
  ask_for_votes(VoteKind::Real, term(), mutant(Mutant::CampaignsBeforeDurable) ? WriteNumber() : disk_.covering_vote());
}

// Thesis 3.6.2, 6.4: an entry of its own term, first of all, so that everything before it can be committed and read.
void Core::Impl::become_leader() {
  if (mutant(Mutant::LeaderDropsTail)) truncate_after(commit_);
  leadership_ = {Role::Leader, term(), options_.self};
  disk_lag_.reset();
  led_since_ = now_;
  round_ = 1;
  confirmed_round_ = 0;
  rounds_.clear();
  heartbeat_due_ = true;
  heartbeat_deadline_ = now_ + options_.heartbeat_interval;
  match_peers_to_configuration();
  Entry start{.index = log_.last().index.next(), .term = term(), .kind = EntryKind::LeaderStart};
  start.content_sum = content_sum(options_.group, start.term, start.index, start.kind, {});
  leader_start_ = start.index;
  append(std::move(start));
}

}  // namespace coordkit::raft
