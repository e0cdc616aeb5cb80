// The leader's messages of one turn (thesis 3.5, 10.2.1).
#include <algorithm>
#include <utility>

#include "raft/leading.h"

namespace coordkit::raft {

// Heartbeats of a new round first, then appends, then the new commit index to peers that did not get it with an append.
void Leading::send_turn(const Step& step) {
  if (heartbeat_due_ || confirmations_.round_wanted()) begin_round(step);
  deferred_.choose(peers_, step.log, step.now);
  for (Progress& peer : peers_) {
    if (!peer.spare) replicate(peer, step);
  }
  send_commit_news(step);
}

// Under load the next append is sent before these messages are due, so half of all messages need not be sent.
void Leading::send_commit_news(const Step& step) {
  const bool due = options_.commit_news_delay == Duration::zero() || commit_news_due_ <= step.now;
  bool kept = false;
  for (Progress& peer : peers_) {
    if (peer.commit_sent >= std::min(step.log.commit(), peer.match)) continue;
    if (peer.kept_waiting(step.log.last().index)) continue;  // the peer gets the news with the entries that are kept from it
    if (due || peer.commit_sent < peer.commit_announced) {
      send_heartbeat(peer, step);
    } else {
      kept = true;
    }
  }
  if (!kept) {
    commit_news_due_ = LaggingTime::max();
  } else if (commit_news_due_ == LaggingTime::max()) {
    commit_news_due_ = step.now + options_.commit_news_delay;
  }
}

void Leading::send_commit(ReplicaId id, const Step& step) {
  Progress* peer = peers_.find(id);
  if (peer == nullptr) return;
  peer->commit_announced = step.log.commit();
  peer->waited = step.now;
}

void Leading::begin_round(const Step& step) {
  heartbeat_due_ = false;
  confirmations_.begin_round(step.now);
  step.log.retention().needed_by_others(catching_up(step.log, step.now).needed());
  for (Progress& peer : peers_) {
    const bool watched = peer.beat.round != 0;
    const bool answer_overdue = watched && step.now - peer.beat.sent >= options_.election_timeout / 2;
    if (answer_overdue) peer.probing = false;  // a peer that does not know us yet answers appends only
    if (!watched || answer_overdue) {
      peer.beat = {round(), step.now, peer.next.previous()};
      if (peer.state == Progress::State::Behind) probe_at_base(peer, step);
    }
    send_heartbeat(peer, step);
  }
}

void Leading::send_heartbeat(Progress& peer, const Step& step) {
  const Log& log = step.log;
  const Index commit = std::min(log.commit(), peer.match);
  peer.commit_sent = std::max(peer.commit_sent, commit);
  step.out.send(peer.peer, WriteNumber(),
                Heartbeat{.term = term_,
                          .stream = peer.stream,
                          .commit = commit,
                          .everyone_has = log.everyone_has(),
                          .round = round(),
                          .committed = log.commit(),
                          .durable = durable_position(log),
                          .hold_back = catching_up(log, step.now).holds_back(),
                          .needed = log.retention().needed_by_others()});
}

void Leading::replicate(Progress& peer, const Step& step) {
  const LogCache& cache = step.log.cache();
  const Index last = cache.last().index;
  if (peer.next <= cache.base().index) peer.fall_behind();  // it cannot be served from the log
  if (peer.state == Progress::State::Behind) return;
  if (peer.state == Progress::State::Probe) {
    if (!peer.probing) send_append(peer, cache.cached(peer.next, last, options_.append_bytes_max), step);
    return;
  }
  while (peer.next <= last && !peer.window.full()) {
    if (peer.next < cache.first_cached())
      return step.reader.request(peer.next, cache.first_cached().previous(), options_.append_bytes_max, step.now);
    send_append(peer, cache.cached(peer.next, last, options_.append_bytes_max), step);
  }
}

void Leading::send_read_back(Index first, std::span<const Entry> entries, const Step& step) {
  for (Progress& peer : peers_) {
    const bool waits = peer.state == Progress::State::Stream && peer.next == first && !peer.window.full();
    if (waits) send_append(peer, entries, step);
  }
}

// In a stream `next` runs ahead of the answers; a probe waits for its own.
void Leading::send_append(Progress& peer, std::span<const Entry> entries, const Step& step) {
  const Index previous = peer.next.previous();
  const std::optional<Term> previous_term = step.log.term_at(previous);
  if (!previous_term) return;
  const bool probe = peer.state == Progress::State::Probe;
  AppendRequest request{.term = term_,
                        .stream = peer.stream,
                        .previous = {previous, *previous_term},
                        .previous_sum = probe ? step.log.cache().content_sum_at(previous) : 0,
                        .last = probe ? step.log.last().index : Index(),
                        .entries = {entries.begin(), entries.end()},
                        .commit = std::min(step.log.commit(), previous + entries.size()),
                        .everyone_has = step.log.everyone_has(),
                        .round = round()};
  peer.commit_sent = std::max(peer.commit_sent, request.commit);
  peer.sent(entries, round(), step.now);
  step.out.send(peer.peer, WriteNumber(), std::move(request));
}

// Each heartbeat whose answer is tracked comes with an empty append at our base. A peer that does not follow us yet learns
// from it which replica leads. The answer reveals the entries that the peer got elsewhere or kept over a restart. A Conflict
// tells us nothing new.
void Leading::probe_at_base(const Progress& peer, const Step& step) {
  const Position base = step.log.base();
  step.out.send(peer.peer, WriteNumber(),
                AppendRequest{.term = term_,
                              .stream = peer.stream,
                              .previous = base,
                              .previous_sum = step.log.cache().content_sum_at(base.index),
                              .last = step.log.last().index,
                              .commit = base.index,
                              .everyone_has = step.log.everyone_has(),
                              .round = round()});
}

}  // namespace coordkit::raft
