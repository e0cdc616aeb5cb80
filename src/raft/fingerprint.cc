#include "raft/fingerprint.h"

#include <algorithm>

#include "base/check.h"
#include "base/sums.h"
#include "raft/core_impl.h"

namespace coordkit::raft {

// ---- words

void Digest::add(const Entry& entry) {
  add(entry.position());
  add(static_cast<uint64_t>(entry.kind));
  add(entry.content_sum);
}

void Digest::add(const std::vector<Entry>& entries) {
  add(entries.size());
  for (const Entry& entry : entries) add(entry);
}

void Digest::add(const Configuration& configuration) {
  for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    std::vector<const Member*> sorted;
    for (const Member& member : *members) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(), [this](auto* a, auto* b) { return name_of(a->id) < name_of(b->id); });
    add(sorted.size());
    for (const Member* member : sorted) add(member->id);
  }
}

namespace {

struct MessageWords {
  Digest& to;

  void operator()(const VoteRequest& m) {
    to.add(m.term), to.add(static_cast<uint64_t>(m.kind)), to.add(m.round), to.add(m.last);
    to.add(static_cast<uint64_t>(m.cause));
  }
  void operator()(const VoteReply& m) {
    to.add(m.term), to.add(static_cast<uint64_t>(m.kind)), to.add(m.round), to.add(static_cast<uint64_t>(m.granted));
  }
  void operator()(const AppendRequest& m) {
    to.add(m.term), to.add(m.stream), to.add(m.previous), to.add(m.entries);
    to.add(m.commit), to.add(m.everyone_has), to.add(m.round), to.add(m.previous_sum), to.add(m.last);
  }
  void operator()(const AppendReply& m) {
    to.add(m.term), to.add(m.stream), to.add(static_cast<uint64_t>(m.verdict)), to.add(m.match);
    to.add(m.hint), to.add(m.rejected), to.add(m.round);
  }
  void operator()(const Heartbeat& m) {  // except the fields that no core reads
    to.add(m.term), to.add(m.stream), to.add(m.commit), to.add(m.everyone_has), to.add(m.committed), to.add(m.round),
        to.add(m.needed);
  }
  void operator()(const HeartbeatReply& m) { to.add(m.term), to.add(m.stream), to.add(m.match), to.add(m.round); }
  void operator()(const TimeoutNow& m) { to.add(m.term); }
  void operator()(const Removed& m) { to.add(m.term), to.add(m.configuration); }
};

}  // namespace

void Digest::add(const Message& message) {
  add(message.index());
  std::visit(MessageWords{*this}, message);
}

Fingerprint Digest::result() const {
  const std::string_view bytes(reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(uint64_t));
  return {hash_bytes(bytes, 1), hash_bytes(bytes, 2)};
}

// ---- the parts of a core

class CoreTwin::Reader {
 public:
  Reader(const Core::Impl& core, Digest& to, const Ignored& ignored) : core_(core), to_(to), ignored_(ignored) {}

  void read() {
    COORDKIT_CHECK_MSG(drained(), "a core is compared after it was drained");
    log();
    disk();
    election();
    if (core_.leading_) reign(*core_.leading_);
    pending();
    reading();
  }

 private:
  bool drained() const {
    const Roles& roles = core_.roles_;
    return core_.outbox_.empty() && core_.reader_.requests_.empty() && !roles.requested() && roles.reported_ == roles.now_ &&
           core_.outbox_.commit_reported == core_.log_.commit();
  }

  // The age of `at`, capped at an election timeout: nothing depends on more.
  void age(LaggingTime at) {
    to_.add(static_cast<uint64_t>(std::min(core_.now_ - at, core_.options_->election_timeout).count()));
  }
  void ahead(LaggingTime at) { to_.add(static_cast<uint64_t>((at - core_.now_).count())); }
  void flag(bool value) { to_.add(value ? 1 : 0); }

  void log() {
    const LogCache& log = core_.log_.cache();
    to_.add(log.base());
    to_.add(log.configuration_at(log.base().index).at);
    to_.add(log.configuration_at(log.base().index).configuration);
    to_.add(core_.log_.configuration_position());
    to_.add(log.last());
    to_.add(log.first_cached());
    for (Index index = log.base().index.next(); index < log.first_cached(); index = index.next()) {
      to_.add(*log.term_at(index));
    }
    for (const Entry& entry : log.cached(log.first_cached(), log.last().index, ~size_t{0})) to_.add(entry);
    const Retention& retention = core_.log_.retention();
    to_.add(core_.log_.commit());
    to_.add(core_.log_.applied());
    to_.add(retention.checkpoint_);
    if (ignored_.compaction) return;
    to_.add(core_.log_.everyone_has());
    to_.add(retention.pinned_);
    to_.add(retention.needed_);
    for (const LogWeight* weight : {&retention.retained_, &retention.pinnable_}) {
      to_.add(weight->older_.size());
      for (const auto& sample : weight->older_) to_.add(sample.last), to_.add(sample.total);
      to_.add(weight->newest_.last);
      to_.add(weight->newest_.total);
    }
  }

  void write(WriteNumber number) {
    const WriteNumber written = core_.log_.disk().written_;
    to_.add(number > written ? number - written : 0);
  }
  void disk() {
    const WriteQueue& disk = core_.log_.disk();
    to_.add(disk.hard_state_);
    flag(disk.hard_state_changed_);
    write(disk.term_write_);
    write(disk.vote_write_);
    to_.add(disk.reset_to_ ? disk.reset_to_->index.value() + 1 : 0);
    to_.add(disk.truncate_after_ ? disk.truncate_after_->value() + 1 : 0);
    to_.add(disk.handed_out_);
    to_.add(disk.unwritten_bytes_);
    to_.add(disk.under_way_.size());
    for (const auto& under_way : disk.under_way_) {
      write(under_way.number);
      to_.add(under_way.last);
      to_.add(under_way.bytes);
    }
    write(disk.last_write_);
    to_.add(disk.durable_);
  }

  void election() {
    const Role role = core_.roles_.role();
    to_.add(static_cast<uint64_t>(role));
    to_.add(core_.roles_.now().term);
    to_.add(core_.roles_.leader());
    to_.add(core_.news_.leader);
    to_.add(core_.news_.verified);
    to_.add(core_.news_.leader_has);
    to_.add(core_.election_timer_.campaign_);
    flag(core_.news_.removed);
    flag(core_.log_.rollback_checked());
    if (role != Role::Leader && !ignored_.followers_clocks) follower();
    if (!core_.campaigning_) return;
    const Campaigning& campaign = *core_.campaigning_;
    to_.add(static_cast<uint64_t>(campaign.cause_));
    voters(campaign.votes_);
    voters(campaign.answered_);
    if (!ignored_.followers_clocks) ahead(std::max(campaign.next_question_, core_.now_));
  }

  void voters(const VoteSet& set) {
    std::vector<uint64_t> names;
    for (const ReplicaId voter : set.voters_) names.push_back(to_.name_of(voter));
    std::sort(names.begin(), names.end());
    to_.add(names.size());
    for (const uint64_t name : names) to_.add(name);
  }

  void follower() {
    ahead(core_.election_timer_.deadline());
    if (core_.roles_.leader() || core_.options_->lease > Duration::zero()) age(core_.news_.contact);
    const Freshness& fresh = core_.news_.freshness;
    to_.add(fresh.at_ ? static_cast<uint64_t>((core_.now_ - *fresh.at_).count()) + 1 : 0);
    flag(fresh.word_.has_value());
    if (fresh.word_) to_.add(fresh.word_->committed), to_.add(static_cast<uint64_t>((core_.now_ - fresh.word_->at).count()));
  }

  void reign(const Leading& leading) {
    const Confirmations& confirmations = leading.confirmations_;
    to_.add(leading.start_);
    flag(leading.match_changed_);
    flag(leading.heartbeat_due_);
    ahead(leading.heartbeat_deadline_);
    flag(leading.commit_news_due_ != LaggingTime::max());
    if (leading.commit_news_due_ != LaggingTime::max()) ahead(leading.commit_news_due_);
    if (core_.options_->append_delay > Duration::zero()) spares(leading);
    to_.add(confirmations.round_);
    to_.add(confirmations.confirmed_);
    for (const auto& round : confirmations.rounds_) to_.add(confirmations.round_ - round.number), age(round.begun);
    to_.add(confirmations.rounds_.size());
    to_.add(confirmations.questions_.size());
    for (const auto& question : confirmations.questions_) {
      to_.add(question.ticket), to_.add(question.round), to_.add(question.commit);
    }
    disk_lag(leading);
    std::vector<const Progress*> peers;
    for (const Progress& peer : leading.peers_) peers.push_back(&peer);
    std::sort(peers.begin(), peers.end(), [this](auto* a, auto* b) { return to_.name_of(a->peer) < to_.name_of(b->peer); });
    to_.add(peers.size());
    for (const Progress* one : peers) peer(*one);
  }

  void peer(const Progress& peer) {
    to_.add(peer.peer);
    to_.add(peer.stream);
    to_.add(peer.match);
    to_.add(peer.next);
    to_.add(static_cast<uint64_t>(peer.state));
    to_.add(peer.probing ? peer.probe_round + 1 : 0);
    to_.add(peer.window.count_);
    for (size_t i = 0; i < peer.window.count_; ++i) {
      const auto& append = peer.window.ring_[(peer.window.head_ + i) % peer.window.ring_.size()];
      to_.add(append.last);
      to_.add(append.bytes);
    }
    to_.add(peer.commit_sent);
    to_.add(std::max(peer.commit_sent, peer.commit_announced));  // lower values have no effect
    to_.add(peer.answered_round);
    age(peer.contact);
    if (!ignored_.compaction) {
      to_.add(peer.stored);
      flag(peer.heard);
      to_.add(static_cast<uint64_t>(std::min(core_.now_ - peer.contact, catch_up_grace(*core_.options_)).count()));
    }
    flag(peer.lease_contact != LaggingTime());
    age(peer.lease_contact);
    flag(peer.lost != LaggingTime::min());
    if (peer.lost != LaggingTime::min()) age(peer.lost), flag(peer.contact > peer.lost);
    to_.add(peer.beat.round);
    age(peer.beat.sent);
    to_.add(peer.beat.round == 0 ? Index() : peer.beat.upto);
  }

  void spares(const Leading& leading) {
    age(leading.deferred_.grown_at_);
    ahead(leading.deferred_.all_until_);
    flag(leading.deferred_.due_ != LaggingTime::max());
    if (leading.deferred_.due_ != LaggingTime::max()) ahead(leading.deferred_.due_);
    to_.add(leading.deferred_.kept_through_);
    to_.add(leading.deferred_.kept_after_);
    to_.add(static_cast<uint64_t>(leading.deferred_.own_disk_.mean().count()));
    to_.add(leading.deferred_.own_upto_);
    age(leading.deferred_.own_since_);
    for (const Progress& peer : leading.peers_) {
      flag(peer.relied_on);
      to_.add(static_cast<uint64_t>(peer.answers.mean().count()));
      to_.add(static_cast<uint64_t>(peer.window.waits(core_.now_).count()));
      flag(peer.waited != LaggingTime::min());
      if (peer.waited != LaggingTime::min()) age(peer.waited);
    }
  }

  void disk_lag(const Leading& leading) {
    const DiskMonitor& monitor = leading.disk_monitor_;
    flag(monitor.lag_.has_value());
    if (const auto& lag = monitor.lag_) {
      to_.add(lag->upto), ahead(lag->since), to_.add(lag->asked), ahead(lag->asked_at), flag(lag->tried);
      for (const ReplicaId id : lag->prompt) to_.add(id);
    }
    if (monitor.off()) return;
    to_.add(static_cast<uint64_t>(std::min(core_.now_ - leading.since_, 10 * core_.options_->election_timeout).count()));
  }

  void pending() {
    to_.add(core_.streams_.last_);
    to_.add(core_.transfer_.lease_void_);
    ahead(std::max(core_.transfer_.rest_until_, core_.now_));
    flag(core_.transfer_.transfer_.has_value());
    if (const auto& transfer = core_.transfer_.transfer_) {
      to_.add(transfer->ticket);
      to_.add(transfer->target);
      ahead(transfer->deadline);
      to_.add(transfer->term);
      to_.add(transfer->ordered_round);
    }
    const auto& change = core_.change_.change_;
    flag(change.has_value());
    if (change) to_.add(change->ticket), to_.add(change->at);
  }

  void reading() {
    const LogReader& reader = core_.reader_;
    to_.add(reader.reads_.size());
    for (const auto& read : reader.reads_) {
      to_.add(read.first);
      flag(read.failed.has_value());
      if (read.failed) age(*read.failed);
    }
    to_.add(reader.apply_wants_ ? reader.apply_wants_->value() + 1 : 0);
    to_.add(reader.apply_window_);
  }

  const Core::Impl& core_;
  Digest& to_;
  const Ignored ignored_;
};

// ---- twins

Core CoreTwin::copy(const Core& core) { return Core(std::make_unique<Core::Impl>(*core.impl_)); }
void CoreTwin::digest(const Core& core, Digest& into, const Ignored& ignored) { Reader(*core.impl_, into, ignored).read(); }
void CoreTwin::reseed(Core& core, uint64_t seed) { core.impl_->election_timer_.random_ = Random(seed); }
std::span<const Entry> CoreTwin::log(const Core& core) {
  const LogCache& log = core.impl_->log_.cache();
  return log.cached(log.first_cached(), log.last().index, ~size_t{0});
}
LaggingTime CoreTwin::deadline_without_repeats(const Core& core) {
  const Core::Impl& impl = *core.impl_;
  const LaggingTime next = impl.next_deadline();
  return next == impl.next_question() ? std::max(next, std::min(impl.election_timer_.deadline(), impl.transfer_.deadline()))
                                      : next;
}
LaggingTime CoreTwin::now(const Core& core) { return core.impl_->now_; }
bool CoreTwin::hears_leader(const Core& core) { return core.impl_->voting().hears_leader(); }
bool CoreTwin::hands_over(const Core& core) { return core.impl_->leading() && core.impl_->transfer_.under_way(); }
bool CoreTwin::admissible(const Core& core, ReplicaId from, const Message& message) {
  return core.impl_->admission().admits(from, message);
}

bool CoreTwin::vote_durable(const Core& core) { return core.impl_->log_.disk().hard_state_durable(); }
bool CoreTwin::overtaken(const Core& core, ReplicaId from, const AppendReply& reply) {
  const Leading* leading = core.impl_->leading();
  const Progress* peer = leading ? leading->peers().find(from) : nullptr;
  if (!peer || peer->stream != reply.stream || reply.term != leading->term_ || reply.round > peer->answered_round) return false;
  return reply.verdict == AppendVerdict::Accepted ? reply.match < peer->match : reply.rejected <= peer->match;
}

void CoreTwin::commit_by_counting(Core& core) {
  Core::Impl& impl = *core.impl_;
  if (!impl.leading_) return;
  const auto match_of = [&impl](ReplicaId id) { return impl.leading_->match_of(id, impl.log_); };
  impl.log_.raise_commit(Index(quorum_value(impl.log_.configuration(), match_of)));
}

}  // namespace coordkit::raft
