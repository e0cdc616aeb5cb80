// The leader's half of replication (thesis 3.5, 10.2.1) and the commit rule (3.6.2).
#include <algorithm>

#include "base/check.h"
#include "base/entry_codec.h"
#include "base/mutant.h"
#include "raft/core_impl.h"
#include "raft/membership.h"

namespace coordkit::raft {

Progress* Core::Impl::progress_of(ReplicaId id) {
  const auto at = std::find_if(peers_.begin(), peers_.end(), [id](const Progress& peer) { return peer.peer == id; });
  return at == peers_.end() ? nullptr : &*at;
}
const Progress* Core::Impl::progress_of(ReplicaId id) const { return const_cast<Impl*>(this)->progress_of(id); }

Index Core::Impl::match(ReplicaId id) const {
  const Progress* peer = progress_of(id);
  return peer ? peer->match : Index();
}

// The set of streams follows the configuration in force, which changes on append (thesis 4.1).
void Core::Impl::match_peers_to_configuration() {
  std::erase_if(peers_, [this](const Progress& peer) {
    const Member* member = member_of(configuration(), peer.peer);
    if (!member || mutant(Mutant::OtherDiskCounts)) return !member;
    return member->store != peer.store;  // another disk has acknowledged nothing (regression R47)
  });
  for (const auto* members : {&configuration().voters, &configuration().outgoing, &configuration().learners}) {
    for (const Member& member : *members) {
      if (is_self(member.id) || progress_of(member.id)) continue;
      const AppendWindow empty(options_.append_messages_in_flight, options_.append_bytes_in_flight);
      peers_.emplace_back(member.id, member.store, empty, log_.last().index.next(), now_).stream = ++last_stream_;
    }
  }
  std::sort(peers_.begin(), peers_.end(), [](const Progress& a, const Progress& b) { return a.peer < b.peer; });
}

void Core::Impl::on(const PeerUp& up) {
  if (Progress* peer = progress_of(up.peer)) {
    peer->restart(++last_stream_);
    peer->probe_from(std::max(peer->next, log_.base().index.next()));  // what it has now is not known
    send_heartbeat(*peer);
  }
}

// ---- proposals

// Commands only: members change by ChangeMembership.
ProposalFate::Kind Core::Impl::admit(const Proposal& proposal) const {
  using Kind = ProposalFate::Kind;
  if (!leads()) return Kind::NotLeader;
  if (handover_) return Kind::Transferring;
  if (log_.last().index.value() >= kCountMax) return Kind::NoRoom;
  const size_t unsynced = disk_.unsynced_bytes();
  if (unsynced > 0 && unsynced + proposal.payload.size() > options_.unsynced_bytes_max) return Kind::NoRoom;
  return proposal.kind == EntryKind::Command ? Kind::Appended : Kind::NoRoom;
}

// ---- answers

// An answer proves contact at the time its round was begun, not at the time of receipt: the network may have held it for
// ever. It counts however many rounds were begun since, or peers that are slow but alive would be taken for gone.
void Core::Impl::heard(Progress& peer, uint64_t round) {
  peer.answered_round = std::max(peer.answered_round, round);
  const auto later = std::find_if(rounds_.begin(), rounds_.end(), [round](const Round& one) { return one.number > round; });
  if (later == rounds_.begin()) return;
  const LaggingTime begun = (later - 1)->begun;
  peer.contact = peer.vouched = std::max(peer.contact, mutant(Mutant::ContactFromReceipt) ? now_ : begun);
}

void Core::Impl::note_round() {
  while (!rounds_.empty() && now_ - rounds_.front().begun > options_.election_timeout) rounds_.pop_front();
  if (!rounds_.empty() && now_ - rounds_.back().begun < options_.heartbeat_interval / 2) return;
  rounds_.push_back({round_, now_});
}

void Core::Impl::receive(ReplicaId from, const AppendReply& reply) {
  Progress& peer = *progress_of(from);
  heard(peer, reply.round);
  if (reply.verdict == AppendVerdict::Accepted) {
    peer.accepted(reply.match);
    matches_changed_ = true;
  } else if (peer.current_rejection(reply.rejected)) {
    const Position agreed = log_.last_not_above(reply.hint.index, reply.hint.term);
    peer.probe_from(mutant(Mutant::StepsBackByOne) ? reply.rejected : std::min(agreed.index.next(), reply.rejected));
  }
}

// A heartbeat's answer says how far the stream got. If something sent before that heartbeat is still missing, it may be
// lost or just on its way to the peer's disk; an empty append finds out at no cost (regression R56).
void Core::Impl::receive(ReplicaId from, const HeartbeatReply& reply) {
  Progress& peer = *progress_of(from);
  heard(peer, reply.round);
  if (reply.match > peer.match) {
    peer.accepted(reply.match);
    matches_changed_ = true;
  }
  const bool probe_missing = peer.state == Progress::State::Probe && peer.probing && reply.round > peer.probe_round;
  const bool append_missing = peer.state == Progress::State::Stream && peer.beat.round != 0 && reply.round >= peer.beat.round &&
                              peer.match < peer.beat.upto;
  if (peer.beat.round != 0 && reply.round >= peer.beat.round) peer.beat = {};
  if ((probe_missing || append_missing) && !mutant(Mutant::LostAppendForgotten)) probe(peer);
}

// ---- commit

// Thesis 3.6.2, fig. 3.7: only an entry of the own term is committed by counting (regression R01). The own match is what the
// own disk has; the followers alone may be a quorum.
void Core::Impl::advance_commit() {
  if (!std::exchange(matches_changed_, false)) return;
  const auto match_of = [this](ReplicaId id) {
    if (is_self(id)) return (mutant(Mutant::LeaderCountsUnsynced) ? log_.last().index : disk_.durable()).value();
    const Progress* peer = progress_of(id);
    return peer ? peer->match.value() : 0;
  };
  const Index agreed(quorum_value(configuration(), match_of));
  if (agreed > commit_ && (log_.term_at(agreed) == term() || mutant(Mutant::CommitsOlderTerms))) {
    COORDKIT_CHECK_MSG(quorum_agrees(configuration(), [&](ReplicaId id) { return match_of(id) >= agreed.value(); }), "INV_R09");
    raise_commit(agreed);
  }
  everyone_has_ = std::max(everyone_has_, std::min(Index(member_minimum(configuration(), match_of)), commit_));
}

LaggingTime Core::Impl::quorum_time(LaggingTime Progress::*of_peer) const {
  const uint64_t time = quorum_value(configuration(), [&](ReplicaId id) {
    const Progress* peer = progress_of(id);
    const LaggingTime at = is_self(id) ? now_ : peer ? peer->*of_peer : LaggingTime();
    return static_cast<uint64_t>(at.time_since_epoch().count());
  });
  return LaggingTime(Duration(static_cast<Duration::rep>(time)));
}

// ---- the leader's messages of one turn

// Heartbeats of a new round first, then appends, then the news of a commit to whoever did not get it with an append.
void Core::Impl::lead() {
  if (heartbeat_due_ || round_wanted()) begin_round();
  for (Progress& peer : peers_) {
    replicate(peer);
    if (peer.told_commit < std::min(commit_, peer.match)) send_heartbeat(peer);
  }
  hand_over();
}

void Core::Impl::begin_round() {
  heartbeat_due_ = false;
  ask_in_round(++round_);
  note_round();
  told_needed_ = checkpoint_.index ? needed() : Index();
  for (Progress& peer : peers_) {
    const bool answer_overdue = now_ - peer.beat.sent >= options_.election_timeout / 2;
    if (answer_overdue) peer.probing = false;  // who does not know us yet answers appends only
    if (peer.beat.round == 0 || answer_overdue) {
      peer.beat = {round_, now_, peer.next.previous()};
      if (peer.state == Progress::State::Behind) greet(peer);
    }
    send_heartbeat(peer);
  }
}

void Core::Impl::send_heartbeat(Progress& peer) {
  const Index commit = mutant(Mutant::CommitUnclamped) ? commit_ : std::min(commit_, peer.match);
  peer.told_commit = std::max(peer.told_commit, commit);
  send(peer.peer, mutant(Mutant::HeartbeatsWaitForDisk) ? disk_.covering(log_.last().index) : WriteNumber(),
       Heartbeat{.term = term(),
                 .stream = peer.stream,
                 .commit = commit,
                 .everyone_has = everyone_has_,
                 .round = round_,
                 .committed = commit_,
                 .durable = durable_position(),
                 .hold_back = holds_back(),
                 .needed = told_needed_});
}

Position Core::Impl::durable_position() const {
  const std::optional<Term> term = log_.term_at(disk_.durable());
  return term ? Position{disk_.durable(), *term} : Position{};
}

void Core::Impl::replicate(Progress& peer) {
  const Index last = log_.last().index;
  leave_behind(peer);
  if (peer.state == Progress::State::Behind) return;
  if (peer.state == Progress::State::Probe) {
    if (!peer.probing) send_append(peer, log_.cached(peer.next, last, options_.append_bytes_max));
    return;
  }
  while (peer.next <= last && !peer.window.full()) {
    if (peer.next < log_.first_cached())
      return request_read(peer.next, log_.first_cached().previous(), options_.append_bytes_max);
    send_append(peer, log_.cached(peer.next, last, options_.append_bytes_max));
  }
}

void Core::Impl::probe(Progress& peer) { send_append(peer, {}); }

// In a stream `next` runs ahead of the answers; a probe waits for its own.
void Core::Impl::send_append(Progress& peer, std::span<const Entry> entries) {
  const Index previous = peer.next.previous();
  const std::optional<Term> previous_term = log_.term_at(previous);
  if (!previous_term) return;
  AppendRequest request{.term = term(),
                        .stream = peer.stream,
                        .previous = {previous, *previous_term},
                        .entries = {entries.begin(), entries.end()},
                        .commit = std::min(commit_, previous + entries.size()),
                        .everyone_has = everyone_has_,
                        .round = round_};
  peer.told_commit = std::max(peer.told_commit, request.commit);
  if (peer.state == Progress::State::Probe) {
    peer.probing = true;
    peer.probe_round = round_;
  } else if (!entries.empty()) {
    size_t bytes = 0;
    for (const Entry& entry : entries) bytes += entry.bytes();
    peer.next = peer.next + entries.size();
    peer.window.sent(peer.next.previous(), bytes);
  }
  send(peer.peer, WriteNumber(), std::move(request));
}

}  // namespace coordkit::raft
