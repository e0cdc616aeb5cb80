#include "twin/core_words.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "twin/opened.h"

namespace coordkit::raft {

template struct Opens<&LogWeight::older_, &LogWeight::newest_>;
void Words::add(const LogWeight& weight) {
  const auto [older, newest] = opened(weight);
  to_.add(older.size());
  for (const auto& sample : older) to_.add(sample.last), to_.add(sample.total);
  to_.add(newest.last);
  to_.add(newest.total);
}

template struct Opens<&Retention::checkpoint_, &Retention::pinned_, &Retention::needed_, &Retention::retained_,
                      &Retention::pinnable_>;
void Words::add(const Retention& retention) {
  const auto [checkpoint, pinned, needed, retained, pinnable] = opened(retention);
  to_.add(checkpoint);
  if (ignored_.compaction) return;
  to_.add(pinned);
  to_.add(needed);
  add(retained);
  add(pinnable);
}

template struct Opens<&WriteQueue::hard_state_changed_, &WriteQueue::term_write_, &WriteQueue::vote_write_,
                      &WriteQueue::reset_to_, &WriteQueue::truncate_after_, &WriteQueue::handed_out_,
                      &WriteQueue::unwritten_bytes_, &WriteQueue::under_way_, &WriteQueue::last_write_, &WriteQueue::written_>;
void Words::add(const WriteQueue& disk) {
  const auto [hard_state_changed, term_write, vote_write, reset_to, truncate_after, handed_out, unwritten_bytes, under_way,
              last_write, written] = opened(disk);
  const auto write = [this, done = written](WriteNumber number) { to_.add(number > done ? number - done : 0); };
  to_.add(disk.hard_state());
  flag(hard_state_changed);
  write(term_write);
  write(vote_write);
  to_.add(reset_to ? reset_to->index.value() + 1 : 0);
  to_.add(truncate_after ? truncate_after->value() + 1 : 0);
  to_.add(handed_out);
  to_.add(unwritten_bytes);
  to_.add(under_way.size());
  for (const auto& one : under_way) {
    write(one.number);
    to_.add(one.last);
    to_.add(one.bytes);
  }
  write(last_write);
  to_.add(disk.durable());
}

void Words::add(const Log& log) {
  const LogCache& cache = log.cache();
  to_.add(cache.base());
  to_.add(cache.configuration_at(cache.base().index).at);
  to_.add(cache.configuration_at(cache.base().index).configuration);
  to_.add(log.configuration_position());
  to_.add(cache.last());
  to_.add(cache.first_cached());
  for (Index index = cache.base().index.next(); index < cache.first_cached(); index = index.next()) {
    to_.add(*cache.term_at(index));
  }
  for (const Entry& entry : cache.cached(cache.first_cached(), cache.last().index, ~size_t{0})) to_.add(entry);
  to_.add(log.commit());
  to_.add(log.applied());
  flag(log.rollback_checked());
  if (!ignored_.compaction) to_.add(log.everyone_has());
  add(log.retention());
  add(log.disk());
}

template struct Opens<&VoteSet::voters_>;
void Words::add(const VoteSet& set) {
  const auto [voters] = opened(set);
  std::vector<uint64_t> names;
  for (const ReplicaId voter : voters) names.push_back(to_.name_of(voter));
  std::sort(names.begin(), names.end());
  to_.add(names.size());
  for (const uint64_t name : names) to_.add(name);
}

template struct Opens<&Campaigning::cause_, &Campaigning::votes_, &Campaigning::answered_, &Campaigning::next_question_>;
void Words::add(const Campaigning& campaign) {
  const auto [cause, votes, answered, next_question] = opened(campaign);
  to_.add(static_cast<uint64_t>(cause));
  add(votes);
  add(answered);
  if (!ignored_.followers_clocks) ahead(std::max(next_question, now_));
}

template struct Opens<&Freshness::word_, &Freshness::at_>;
void Words::add(const Freshness& freshness) {
  const auto [word, at] = opened(freshness);
  to_.add(at ? static_cast<uint64_t>((now_ - *at).count()) + 1 : 0);
  flag(word.has_value());
  if (word) to_.add(word->committed), count(now_ - word->at);
}

template struct Opens<&Confirmations::round_, &Confirmations::confirmed_, &Confirmations::rounds_, &Confirmations::questions_>;
void Words::add(const Confirmations& confirmations) {
  const auto [last_round, confirmed, rounds, questions] = opened(confirmations);
  to_.add(last_round);
  to_.add(confirmed);
  for (const auto& round : rounds) to_.add(last_round - round.number), age(round.begun);
  to_.add(rounds.size());
  to_.add(questions.size());
  for (const auto& question : questions) to_.add(question.ticket), to_.add(question.round), to_.add(question.commit);
}

template struct Opens<&DiskMonitor::lag_, &DiskMonitor::off>;
void Words::add(const DiskMonitor& monitor, LaggingTime leads_since) {
  const auto [lag, off] = opened(monitor);
  flag(lag.has_value());
  if (lag) {
    to_.add(lag->upto), ahead(lag->since), to_.add(lag->asked), ahead(lag->asked_at), flag(lag->tried);
    for (const ReplicaId id : lag->prompt) to_.add(id);
  }
  if (!off()) count(std::min(now_ - leads_since, 10 * options_.election_timeout));
}

template struct Opens<&AppendWindow::ring_, &AppendWindow::head_, &AppendWindow::count_>;
void Words::add(const AppendWindow& window) {
  const auto [ring, head, count] = opened(window);
  to_.add(count);
  for (size_t i = 0; i < count; ++i) {
    const auto& append = ring[(head + i) % ring.size()];
    to_.add(append.last);
    to_.add(append.bytes);
  }
}

void Words::add(const Progress& peer) {
  to_.add(peer.peer);
  to_.add(peer.stream);
  to_.add(peer.match);
  to_.add(peer.next);
  to_.add(static_cast<uint64_t>(peer.state));
  to_.add(peer.probing ? peer.probe_round + 1 : 0);
  add(peer.window);
  to_.add(peer.commit_sent);
  to_.add(std::max(peer.commit_sent, peer.commit_announced));  // lower values have no effect
  to_.add(peer.answered_round);
  age(peer.contact);
  if (!ignored_.compaction) {
    to_.add(peer.stored);
    flag(peer.heard);
    count(std::min(now_ - peer.contact, catch_up_grace(options_)));
  }
  flag(peer.lease_contact != LaggingTime());
  age(peer.lease_contact);
  flag(peer.lost != LaggingTime::min());
  if (peer.lost != LaggingTime::min()) age(peer.lost), flag(peer.contact > peer.lost);
  to_.add(peer.beat.round);
  age(peer.beat.sent);
  to_.add(peer.beat.round == 0 ? Index() : peer.beat.upto);
}

template struct Opens<&DeferredFollowers::grown_at_, &DeferredFollowers::all_until_, &DeferredFollowers::kept_through_,
                      &DeferredFollowers::kept_after_, &DeferredFollowers::own_disk_, &DeferredFollowers::own_upto_,
                      &DeferredFollowers::own_since_>;
void Words::add(const DeferredFollowers& deferred, const Peers& peers) {
  const auto [grown_at, all_until, kept_through, kept_after, own_disk, own_upto, own_since] = opened(deferred);
  age(grown_at);
  ahead(all_until);
  due(deferred.due());
  to_.add(kept_through);
  to_.add(kept_after);
  count(own_disk.mean());
  to_.add(own_upto);
  age(own_since);
  for (const Progress& peer : peers) {
    flag(peer.relied_on);
    count(peer.answers.mean());
    count(peer.window.waits(now_));
    flag(peer.waited != LaggingTime::min());
    if (peer.waited != LaggingTime::min()) age(peer.waited);
  }
}

template struct Opens<&Leading::start_, &Leading::since_, &Leading::match_changed_, &Leading::heartbeat_due_,
                      &Leading::heartbeat_deadline_, &Leading::commit_news_due_, &Leading::deferred_, &Leading::confirmations_,
                      &Leading::disk_monitor_>;
void Words::add(const Leading& leading) {
  const auto [start, since, match_changed, heartbeat_due, heartbeat_deadline, commit_news_due, deferred, confirmations,
              disk_monitor] = opened(leading);
  to_.add(start);
  flag(match_changed);
  flag(heartbeat_due);
  ahead(heartbeat_deadline);
  due(commit_news_due);
  if (options_.append_delay > Duration::zero()) add(deferred, leading.peers());
  add(confirmations);
  add(disk_monitor, since);
  std::vector<const Progress*> peers;
  for (const Progress& peer : leading.peers()) peers.push_back(&peer);
  std::sort(peers.begin(), peers.end(), [this](auto* a, auto* b) { return to_.name_of(a->peer) < to_.name_of(b->peer); });
  to_.add(peers.size());
  for (const Progress* peer : peers) add(*peer);
}

template struct Opens<&PendingTransfer::transfer_, &PendingTransfer::rest_until_>;
void Words::add(const PendingTransfer& pending) {
  const auto [transfer, rest_until] = opened(pending);
  to_.add(pending.lease_void());
  ahead(std::max(rest_until, now_));
  flag(transfer.has_value());
  if (!transfer) return;
  to_.add(transfer->ticket);
  to_.add(transfer->target);
  ahead(transfer->deadline);
  to_.add(transfer->term);
  to_.add(transfer->ordered_round);
}

template struct Opens<&PendingChange::change_>;
void Words::add(const PendingChange& pending) {
  const auto [change] = opened(pending);
  flag(change.has_value());
  if (change) to_.add(change->ticket), to_.add(change->at);
}

template struct Opens<&LogReader::reads_, &LogReader::apply_wants_, &LogReader::apply_window_, &LogReader::requests_>;
void Words::add(const LogReader& reader) {
  const auto [reads, apply_wants, apply_window, requests] = opened(reader);
  COORDKIT_CHECK_MSG(requests.empty(), "a core is compared after it was drained");
  to_.add(reads.size());
  for (const auto& read : reads) {
    to_.add(read.first);
    flag(read.failed.has_value());
    if (read.failed) age(*read.failed);
  }
  to_.add(apply_wants ? apply_wants->value() + 1 : 0);
  to_.add(apply_window);
}

void Words::add(const Roles& roles, const LeaderNews& news) {
  to_.add(static_cast<uint64_t>(roles.role()));
  to_.add(roles.now().term);
  to_.add(roles.leader());
  to_.add(news.leader);
  to_.add(news.verified);
  to_.add(news.leader_has);
  flag(news.removed);
  if (roles.role() == Role::Leader || ignored_.followers_clocks) return;
  if (roles.leader() || options_.lease > Duration::zero()) age(news.contact);
  add(news.freshness);
}

}  // namespace coordkit::raft
