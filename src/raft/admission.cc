// The door for messages: one predicate. A message that fails it is dropped and nothing happens; after it, the handlers
// see only what a correct member of this group could have sent. Whether a term is news is not judged here but in
// begins_new_term().
#include "base/entry_codec.h"
#include "base/mutant.h"
#include "base/sums.h"
#include "raft/core_impl.h"

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
    if (!content_intact(group, entry) && !mutant(Mutant::EntrySumUnchecked)) return false;
    if (carries_configuration(entry) && !configuration_of(entry).ok()) return false;
    before = entry.position();
  }
  return true;
}

}  // namespace

bool Core::Impl::admissible(ReplicaId from, const Message& message) const {
  if (is_self(from) || configuration().voters.empty()) return false;  // a blank replica listens to nobody
  if (!attested_ && !std::holds_alternative<Removed>(message)) return false;
  if (!is_member(configuration(), from) && !heard_as_stranger(from, message)) return false;
  return std::visit([&](const auto& value) { return within_reach(value.term) && plausible(value.term) && sound(from, value); },
                    message);
}

// A term is only ever raised, and there are 2^64: whoever could raise it at will would leave none to elect a leader in
// (FLT_S08). Bounded leaps of the few who are heard at all take longer than a cluster lives.
bool Core::Impl::within_reach(Term claimed) const {
  return claimed <= term() || claimed.value() - term().value() <= kTermLeapMax || mutant(Mutant::TermLeaps);
}

void Core::Impl::note_leap(ReplicaId from, const Message& message) {
  const Term claimed = std::visit([](const auto& value) { return value.term; }, message);
  if (!within_reach(claimed)) leap_ = TermLeap{from, claimed, (leap_ ? leap_->count : 0) + 1};
}

bool Core::Impl::sound(ReplicaId, const VoteRequest& request) const {
  const bool known_kind = request.kind == VoteKind::Pre || request.kind == VoteKind::Real;
  const bool known_cause =
      request.cause == Cause::Silence || (request.cause == Cause::Transfer && request.kind == VoteKind::Real);
  return known_kind && known_cause && plausible(request.last) && request.last.term <= request.term;
}

// The answer to our present campaign, or news of a later term. A pre-vote's carries the voter's own term, whatever it is.
bool Core::Impl::sound(ReplicaId, const VoteReply& reply) const {
  if (reply.term > term()) return true;
  if (reply.round != vote_round_) return false;
  if (reply.kind == VoteKind::Pre) return leadership_.role == Role::PreCandidate || mutant(Mutant::LatePreVoteCounts);
  return reply.kind == VoteKind::Real && leadership_.role == Role::Candidate && reply.term == term();
}

bool Core::Impl::sound(ReplicaId from, const AppendRequest& request) const {
  return lawful_leader(from, request.term) && plausible(request.previous) && plausible(request.commit) &&
         request.previous.term <= request.term && request.entries.size() < (size_t{1} << 32) &&
         contiguous_and_intact(options_.group, request);
}

bool Core::Impl::sound(ReplicaId from, const Heartbeat& heartbeat) const {
  return lawful_leader(from, heartbeat.term) && plausible(heartbeat.commit) && plausible(heartbeat.durable) &&
         plausible(heartbeat.needed);
}

// An order of the leader that we follow, in its term and no other.
bool Core::Impl::sound(ReplicaId from, const TimeoutNow& order) const {
  return order.term == term() && leadership_.leader == from;
}

bool Core::Impl::sound(ReplicaId, const Removed& news) const { return plausible(news.configuration); }

bool Core::Impl::sound(ReplicaId from, const AppendReply& reply) const {
  if (reply.term > term()) return true;
  if (!current_stream(from, reply.term, reply.stream) || reply.round > round_) return false;
  if (reply.verdict == AppendVerdict::Accepted) return reply.match <= log_.last().index;
  return reply.verdict == AppendVerdict::Conflict && plausible(reply.hint) && reply.rejected <= log_.last().index;
}

bool Core::Impl::sound(ReplicaId from, const HeartbeatReply& reply) const {
  if (reply.term > term()) return true;
  return current_stream(from, reply.term, reply.stream) && reply.round <= round_ && reply.match <= log_.last().index;
}

// One leader per term (thesis 3.6): whoever claims a term that we lead, or in which we follow another, is not it.
bool Core::Impl::lawful_leader(ReplicaId from, Term claimed) const {
  if (claimed != term()) return true;
  return !leads() && (!leadership_.leader || leadership_.leader == from);
}

bool Core::Impl::current_stream(ReplicaId from, Term echoed, uint64_t stream) const {
  const Progress* peer = progress_of(from);
  return peer && echoed == term() && (stream == peer->stream || mutant(Mutant::StreamIgnored));
}

}  // namespace coordkit::raft
