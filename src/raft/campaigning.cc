#include "raft/campaigning.h"

namespace coordkit::raft {

void Campaigning::ask_for_votes(Term term, WriteNumber after, const Log& log, Outbox& out) const {
  for (const ReplicaId peer : peers_of(log.configuration(), self_)) {
    if (!is_voter(log.configuration(), peer) || answered_.contains(peer)) continue;
    out.send(peer, after, VoteRequest{.kind = kind_, .term = term, .round = round_, .last = log.last(), .cause = cause_});
  }
}

bool Campaigning::answered_by(const VoteReply& reply, Term term) const {
  if (reply.round != round_) return false;
  if (reply.kind == VoteKind::Pre) return kind_ == VoteKind::Pre;
  return reply.kind == VoteKind::Real && kind_ == VoteKind::Real && reply.term == term;
}

void Campaigning::receive(ReplicaId from, const VoteReply& reply) {
  if (reply.round != round_) return;
  answered_.add(from);
  if (reply.granted == Answer::Yes) votes_.add(from);
}

bool Campaigning::won(const Log& log) const {
  if (!log.disk().hard_state_durable()) return false;
  return quorum_agrees(log.configuration(), [this](ReplicaId id) { return id == self_ || votes_.contains(id); });
}

}  // namespace coordkit::raft
