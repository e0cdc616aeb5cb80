#include "raft/admission.h"

#include "base/sums.h"
#include "raft/log/entry_codec.h"
#include "raft/quorum.h"

namespace coordkit::raft {
namespace {

bool plausible(Term term) { return term && term.value() <= kCountMax; }
bool plausible(Index index) { return index.value() <= kCountMax; }
bool plausible(Position position) {
  return plausible(position.index) && position.term.value() <= kCountMax && bool(position.index) == bool(position.term);
}

bool carries_configuration(const Entry& entry) {
  return entry.kind == EntryKind::Genesis || entry.kind == EntryKind::Configuration;
}

// Entries follow `previous` without a gap, terms never fall, and every byte is what its proposer made.
bool contiguous_and_intact(GroupId group, const AppendRequest& request) {
  Position before = request.previous;
  for (const Entry& entry : request.entries) {
    if (entry.index != before.index.next() || entry.term < before.term || entry.term > request.term) return false;
    if (!content_intact(group, entry)) return false;
    if (carries_configuration(entry) && !configuration_of(entry).ok()) return false;
    before = entry.position();
  }
  return true;
}

}  // namespace

bool Admission::admits(ReplicaId from, const Message& message) const {
  const Configuration& members = log_.configuration();
  if (from == options_.self || members.voters.empty()) return false;  // a blank replica ignores every peer
  if (!log_.rollback_checked() && !std::holds_alternative<Removed>(message)) return false;
  if (!is_member(members, from) && !admitted_from_nonmember(from, message)) return false;
  return std::visit([&](const auto& value) { return plausible(value.term) && well_formed(from, value); }, message);
}

bool Admission::well_formed(ReplicaId, const VoteRequest& request) const {
  const bool known_kind = request.kind == VoteKind::Pre || request.kind == VoteKind::Real;
  const bool known_cause =
      request.cause == Cause::Silence || (request.cause == Cause::Transfer && request.kind == VoteKind::Real);
  return known_kind && known_cause && plausible(request.last) && request.last.term <= request.term;
}

// An answer to our current campaign, or a message that reveals a later term.
bool Admission::well_formed(ReplicaId, const VoteReply& reply) const {
  if (reply.term > log_.term()) return true;
  return campaigning_ != nullptr && campaigning_->answered_by(reply, log_.term());
}

bool Admission::well_formed(ReplicaId from, const AppendRequest& request) const {
  return legitimate_leader(from, request.term) && plausible(request.previous) && plausible(request.commit) &&
         request.previous.term <= request.term && request.entries.size() < (size_t{1} << 32) &&
         contiguous_and_intact(options_.group, request);
}

bool Admission::well_formed(ReplicaId from, const Heartbeat& heartbeat) const {
  return legitimate_leader(from, heartbeat.term) && plausible(heartbeat.commit) && plausible(heartbeat.durable) &&
         plausible(heartbeat.needed);
}

// An order from the leader that we follow, in its term and no other.
bool Admission::well_formed(ReplicaId from, const TimeoutNow& order) const {
  return order.term == log_.term() && leadership_.leader == from;
}

bool Admission::well_formed(ReplicaId, const Removed& news) const { return plausible(news.configuration); }

bool Admission::well_formed(ReplicaId from, const AppendReply& reply) const {
  if (reply.term > log_.term()) return true;
  if (!leading_ || !leading_->current_stream(from, reply.term, reply.stream) || reply.round > leading_->round()) return false;
  if (reply.verdict == AppendVerdict::Accepted) return reply.match <= log_.last().index;
  return reply.verdict == AppendVerdict::Conflict && plausible(reply.hint) && reply.rejected <= log_.last().index;
}

bool Admission::well_formed(ReplicaId from, const HeartbeatReply& reply) const {
  if (reply.term > log_.term()) return true;
  return leading_ && leading_->current_stream(from, reply.term, reply.stream) && reply.round <= leading_->round() &&
         reply.match <= log_.last().index;
}

// One leader per term (thesis 3.6): a peer that claims a term in which we led or followed another replica is not its leader,
// even when that one is gone. Two leaders prove two histories, and what one of them has proved must not count for the other.
bool Admission::legitimate_leader(ReplicaId from, Term claimed) const {
  return claimed != log_.term() || !leader_of_term_ || leader_of_term_ == from;
}

// Our log may be older than the configuration that made `from` a member. A candidate proves nothing and is checked like any
// other (4.1). A leader proves itself by an append of a term that is not over. Once we follow it, its orders count as well.
bool Admission::admitted_from_nonmember(ReplicaId from, const Message& message) const {
  if (std::holds_alternative<VoteRequest>(message)) return true;
  if (const auto* append = std::get_if<AppendRequest>(&message)) return append->term >= log_.term();
  const bool order = std::holds_alternative<Heartbeat>(message) || std::holds_alternative<TimeoutNow>(message);
  return order && leadership_.leader == from &&
         std::visit([](const auto& value) { return value.term; }, message) == log_.term();
}

}  // namespace coordkit::raft
