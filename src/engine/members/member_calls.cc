#include "engine/members/member_calls.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {

// ---- the caller's side

void MemberCalls::start(ChangeMembers call, const Router& router, Turn& turn) {
  change_.start(std::move(call), router.configuration_at().index, router.configuration(), turn.effects.completions);
}

void MemberCalls::start(const TransferLeadership& call, const Router&, Turn& turn) {
  const Consensus& consensus = turn.consensus;
  transfer_.start(call, consensus.core()->configuration(), consensus.leadership(), turn.effects.completions);
}

void MemberCalls::forget(Ticket ticket) {
  change_.forget(ticket);
  transfer_.forget(ticket);
}

// A leader may be heard again without a first entry of its own to come.
void MemberCalls::ask_leader(const Router& router, const PeerSet& peers, Turn& turn) {
  Consensus& consensus = turn.consensus;
  if (!consensus.knows_leader()) return;
  leader_known(router, consensus.leadership(), turn.effects);
  const auto put = [&](auto request) {
    if (consensus.leads()) return receive(self(), std::move(request), turn);
    turn.effects.sends.push_back({consensus.leader(), std::move(request)});
  };
  const LaggingTime now = turn.now.lagging;
  if (auto request = change_.question(now, peers, turn.effects.completions)) put(*std::move(request));
  if (auto request = transfer_.question(now, consensus.leader())) put(*request);
}

void MemberCalls::receive(const ChangeReply& reply, Turn& turn) {
  change_.replied(reply, turn.now.lagging, turn.effects.completions);
}

void MemberCalls::receive(const TransferReply& reply, Turn& turn) {
  transfer_.replied(reply, turn.now.lagging, turn.effects.completions);
}

void MemberCalls::configuration_applied(const RouterOutput::InForce& one, EngineEffects& effects) {
  change_.applied(one.at, one.configuration, effects.completions);
}

void MemberCalls::leader_started(const raft::Leadership& leadership, Index at, EngineEffects& effects) {
  transfer_.leader_started(leadership, at, effects.completions);
}

void MemberCalls::state_replaced(const Router& router, const raft::Leadership& leadership, EngineEffects& effects) {
  change_.state_replaced(router.configuration_at().index, router.configuration(), effects.completions);
  leader_known(router, leadership, effects);
}

void MemberCalls::leader_known(const Router& router, const raft::Leadership& leadership, EngineEffects& effects) {
  if (router.leader_term() == leadership.term) leader_started(leadership, router.applied().index, effects);
}

void MemberCalls::leadership_changed() {
  change_.leadership_changed();
  transfer_.leadership_changed();
}

void MemberCalls::removed(std::string_view why, EngineEffects& effects) {
  change_.removed(effects.completions);
  transfer_.fail(Reason::Removed, why, effects.completions);
}

void MemberCalls::expire(LaggingTime now, bool leader_known, EngineEffects& effects) {
  change_.expire(now, leader_known, effects.completions);
  transfer_.expire(now, effects.completions);
}

void MemberCalls::fail(Reason reason, std::string_view why, EngineEffects& effects) {
  change_.fail(reason, why, effects.completions);
  transfer_.fail(reason, why, effects.completions);
}

LaggingTime MemberCalls::next_deadline(bool leader_known) const {
  return std::min(change_.next_deadline(leader_known), transfer_.next_deadline(leader_known));
}

// ---- the leader's side

void MemberCalls::receive(ReplicaId from, ChangeRequest request, Turn& turn) {
  const Ticket ticket = turn.consensus.next_ticket();
  turn.consensus.step(raft::ChangeMembership{ticket, request.changes, request.expected}, turn.now.lagging);
  asked_changes_.emplace(ticket, AskedChange{from, std::move(request)});
}

void MemberCalls::receive(ReplicaId from, const TransferRequest& request, Turn& turn) {
  const Ticket ticket = turn.consensus.next_ticket();
  const LaggingTime deadline = turn.now.lagging + request.time_left;
  turn.consensus.step(raft::Transfer{ticket, request.target, deadline}, turn.now.lagging);
  asked_transfers_.emplace(ticket, AskedTransfer{from, request.attempt});
}

void MemberCalls::decided(const raft::ChangeOutcome& outcome, Turn& turn) {
  const auto asked = asked_changes_.find(outcome.ticket);
  if (asked == asked_changes_.end()) return;
  const AskedChange one = std::move(asked->second);
  asked_changes_.erase(asked);
  ChangeReply reply = reply_to(one.request, outcome, turn);
  if (one.from == self()) return receive(reply, turn);
  turn.effects.sends.push_back({one.from, reply});
}

void MemberCalls::decided(const raft::TransferOutcome& outcome, Turn& turn) {
  const auto asked = asked_transfers_.find(outcome.ticket);
  if (asked == asked_transfers_.end()) return;
  const AskedTransfer one = asked->second;
  asked_transfers_.erase(asked);
  const TransferReply reply{one.attempt, outcome.kind};
  if (one.from == self()) return receive(reply, turn);
  turn.effects.sends.push_back({one.from, reply});
}

// Names the member furthest behind among those that are to vote.
ChangeReply MemberCalls::reply_to(const ChangeRequest& request, const raft::ChangeOutcome& outcome, const Turn& turn) const {
  ChangeReply reply{.attempt = request.attempt, .outcome = outcome.kind, .configuration = outcome.configuration};
  if (outcome.kind != raft::ChangeOutcome::Kind::LearnerLags) return reply;
  const raft::Status status = turn.consensus.core()->status();
  for (const raft::MemberChange& change : request.changes) {
    const bool votes = change.kind == raft::MemberChange::Kind::Promote || change.kind == raft::MemberChange::Kind::Replace;
    for (const raft::PeerStatus& peer : status.peers) {
      if (peer.peer != change.member.id || !votes) continue;
      const uint64_t lag = status.last.index - std::min(peer.match, status.last.index);
      const bool silent = !peer.match || turn.now.lagging - peer.last_received >= options_.raft.election_timeout;
      if (!reply.lagging || lag > reply.lag || silent) reply.lagging = peer.peer, reply.lag = lag;
    }
  }
  return reply;
}

}  // namespace coordkit::engine
