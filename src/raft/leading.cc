// Leadership (thesis 3.5, 3.6): the facts that peers' answers prove, the entries that they commit, and how long a leader may
// rely on them.
#include "raft/leading.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "raft/quorum.h"

namespace coordkit::raft {

Leading::Leading(const Options& options, const Log& log, StreamNumbers& streams, LaggingTime now)
    : options_(options),
      term_(log.term()),
      start_(log.last().index.next()),
      since_(now),
      peers_(options),
      confirmations_(options),
      disk_monitor_(options),
      deferred_(options),
      heartbeat_deadline_(now + options.heartbeat_interval) {
  members_changed(log, streams, now);
}

void Leading::members_changed(const Log& log, StreamNumbers& streams, LaggingTime now) {
  peers_.follow(log.configuration(), log.last().index.next(), streams, now);
  leads_until_ = LaggingTime::min();
  deferred_.stop_deferring(now);
}

// ---- answers

void Leading::connected(ReplicaId id, StreamNumbers& streams, const Step& step) {
  Progress* peer = peers_.find(id);
  if (!peer) return;
  peer->restart(streams.next());
  peer->probe_from(std::max(peer->next, step.log.base().index.next()));  // its present log is not known
  send_heartbeat(*peer, step);
  deferred_.stop_deferring(step.now);
}

void Leading::lost(ReplicaId id, LaggingTime now) {
  for (Progress& peer : peers_) {
    if (!id || peer.peer == id) peer.lost = now;
  }
  deferred_.stop_deferring(now);
}

bool Leading::current_stream(ReplicaId from, Term echoed, uint64_t stream) const {
  const Progress* peer = peers_.find(from);
  return peer && echoed == term_ && stream == peer->stream;
}

// An answer proves contact at the time its round began, not at the time of receipt: the network may have held it arbitrarily
// long. It counts however many rounds have begun since; otherwise slow but live peers would be taken for dead.
void Leading::received_from(Progress& peer, uint64_t round) {
  peer.heard = true;
  peer.answered_round = std::max(peer.answered_round, round);
  const std::optional<LaggingTime> begun = confirmations_.begun(round);
  if (!begun) return;
  peer.contact = peer.lease_contact = std::max(peer.contact, *begun);
}

void Leading::receive(ReplicaId from, const AppendReply& reply, const Step& step) {
  Progress& peer = *peers_.find(from);
  received_from(peer, reply.round);
  if (reply.verdict == AppendVerdict::Accepted) {
    peer.accepted(reply.match, step.now);
    match_changed_ = true;
  } else if (peer.current_rejection(reply.rejected)) {
    const Position agreed = step.log.cache().last_not_above(reply.hint.index, reply.hint.term);
    peer.probe_from(std::min(agreed.index.next(), reply.rejected));
  }
}

// A heartbeat's answer says how far the stream got. If an entry sent before that heartbeat is still missing, it may be lost,
// or the peer's disk may be about to store it. An empty append finds out at no cost (regression R56).
void Leading::receive(ReplicaId from, const HeartbeatReply& reply, const Step& step) {
  Progress& peer = *peers_.find(from);
  received_from(peer, reply.round);
  if (reply.match > peer.match) {
    peer.accepted(reply.match, step.now);
    match_changed_ = true;
  }
  const bool probe_missing = peer.state == Progress::State::Probe && peer.probing && reply.round > peer.probe_round;
  const bool append_missing = peer.state == Progress::State::Stream && peer.beat.round != 0 && reply.round >= peer.beat.round &&
                              peer.match < peer.beat.upto;
  if (peer.beat.round != 0 && reply.round >= peer.beat.round) peer.beat = {};
  if (probe_missing || append_missing) send_append(peer, {}, step);
}

// ---- commit

uint64_t Leading::match_of(ReplicaId id, const Log& log) const {
  if (id == options_.self) return log.durable().value();
  return peers_.match(id).value();
}

// Only an entry of the leader's own term is committed by counting (regression R01). The leader's own match is the part of its
// log that is durable here. Followers alone may form a quorum.
void Leading::advance_commit(Log& log) {
  if (!std::exchange(match_changed_, false)) return;
  const auto match_of = [&](ReplicaId id) { return this->match_of(id, log); };
  const Index agreed(quorum_value(log.configuration(), match_of));
  if (agreed > log.commit() && log.term_at(agreed) == term_) {
    COORDKIT_CHECK_MSG(quorum_agrees(log.configuration(), [&](ReplicaId id) { return match_of(id) >= agreed.value(); }),
                       "INV_R09");
    log.raise_commit(agreed);
  }
  log.raise_everyone_has(Index(member_minimum(log.configuration(), match_of)));
}

// ---- time

LaggingTime Leading::quorum_contact(const Log& log, LaggingTime now) const {
  return peers_.quorum_time(log.configuration(), &Progress::contact, now);
}

// A leader steps down no later than another replica could have been elected. Its time ends an election timeout after it sent
// the last heartbeat that a quorum answered (thesis 6.2; regression R66).
bool Leading::expired(const Log& log, LaggingTime now) {
  if (now + options_.heartbeat_interval < leads_until_) return false;
  leads_until_ = expiry(log, now);
  return now >= leads_until_;
}

LaggingTime Leading::next_deadline(const Log& log, LaggingTime now) const {
  const LaggingTime next = std::min({heartbeat_deadline_, commit_news_due_, deferred_.due()});
  return next <= leads_until_ ? next : std::min(next, expiry(log, now));
}

// If no quorum has answered the last two heartbeats, or the answers were lost (FLT_N01), heartbeats come twice as often. This
// lasts until a quorum answers or the leader's time is over.
bool Leading::heartbeat_comes_due(const Log& log, LaggingTime now) {
  if (now < heartbeat_deadline_) return false;
  heartbeat_due_ = true;
  const bool missed = now - quorum_contact(log, now) > 2 * options_.heartbeat_interval;
  heartbeat_deadline_ = now + options_.heartbeat_interval / (missed ? 2 : 1);
  return true;
}

// A peer that answered a round obeys this leader for an election timeout. Until then it votes for no other candidate,
// whatever term it has moved to meanwhile. Only the leader's own order to campaign is exempt, and that voids the lease first
// (thesis 6.4.1; regression R61).
std::optional<LaggingTime> Leading::lease_start(const Log& log, LaggingTime now) const {
  if (options_.lease <= Duration::zero() || !own_entry_committed(log)) return std::nullopt;
  const LaggingTime since = peers_.quorum_time(log.configuration(), &Progress::lease_contact, now);
  return since == LaggingTime() ? std::nullopt : std::optional(since);
}

ReplicaId Leading::best_successor(const Log& log, LaggingTime now) const {
  return peers_.best_successor(log.configuration(), now, [](ReplicaId) { return true; });
}

// Returns a successor if the disk stalls and we have led for a while. If one transfer failed, and the prompt peers can elect
// one of themselves without us, we step down. With such a disk we win no election.
std::optional<ReplicaId> Leading::relief(const Log& log, LaggingTime now) const {
  constexpr int kTimeoutsLedFirst = 10;
  if (!disk_monitor_.stalls(now) || now - since_ < kTimeoutsLedFirst * options_.election_timeout) return std::nullopt;
  const auto prompt = [this](ReplicaId id) { return disk_monitor_.prompt(id); };
  if (disk_monitor_.handed_over_in_vain() && quorum_agrees(log.configuration(), prompt)) return ReplicaId();
  const ReplicaId successor = peers_.best_successor(log.configuration(), now, prompt);
  return successor ? std::optional(successor) : std::nullopt;
}

// ---- questions

void Leading::ask(Ticket ticket, const Log& log) {
  const bool alone = quorum_agrees(log.configuration(), [this](ReplicaId id) { return id == options_.self; });
  confirmations_.ask(ticket, log.commit(), alone);
}

void Leading::answer_questions(const Log& log, Outbox& out) {
  confirmations_.answer(
      log.commit(), start_, [&] { return peers_.quorum_round(log.configuration(), round()); }, out);
}

}  // namespace coordkit::raft
