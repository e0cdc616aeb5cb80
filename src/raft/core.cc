// One step and one drain. The order within a step is fixed: decisions by time alone, then the gate, then the handler, then
// its consequences (timers, role, commit, answers).
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/sums.h"
#include "raft/core_impl.h"

namespace coordkit::raft {
namespace {

template <typename... Fs>
struct Cases : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Cases(Fs...) -> Cases<Fs...>;

bool is_answer(const Message& message) {
  return std::holds_alternative<VoteReply>(message) || std::holds_alternative<AppendReply>(message) ||
         std::holds_alternative<HeartbeatReply>(message);
}

Term term_of(const Message& message) {
  return std::visit([](const auto& value) { return value.term; }, message);
}

}  // namespace

Core::Impl::Impl(const Options& options, Recovered recovered, LaggingTime now)
    : options_(std::make_shared<const Options>(options)),
      now_(now),
      log_(*options_, std::move(recovered)),
      reader_(*options_),
      roles_(log_.term()),
      election_timer_(*options_),
      news_{.contact = now, .leader_has = log_.commit()},
      reach_(log_.term(), now) {
  outbox_.commit_reported = log_.commit();
  election_timer_.arm(now_);
}

// A leader checks the time before the input. So a process that slept past the end of its leadership does not act on old
// messages.
void Core::Impl::step(Input input, LaggingTime now) {
  now_ = std::max(now_, now);
  const bool expired = leading_ && leading_->expired(log_, now_);
  if (expired) roles_.step_down(log_.term());
  if (expired || transfer_.under_way()) finish_step();
  take(input);
  watch_time();
  finish_step();
}

void Core::Impl::take(Input& input) {
  const auto note_written = [&](const Written& written) {
    log_.written(written.number);
    if (leading_) leading_->match_changed();
  };
  const auto ask = [&](const Confirm& question) {
    if (leading_) return leading_->ask(question.ticket, log_);
    outbox_.confirmations.push_back({.ticket = question.ticket});
  };
  const auto read_back = [&](LogRead& read) {
    if (!reader_.accepts(read, log_, now_)) return;
    if (leading_) leading_->send_read_back(read.first, *read.entries, here());
    reader_.keep_for_apply(read);
  };
  const auto send_commit = [&](const SendCommit& send) {
    if (leading_) leading_->send_commit(send.peer, here());
  };
  const auto connected = [&](const PeerUp& up) {
    if (leading_) leading_->connected(up.peer, streams_, here());
  };
  const auto lost = [&](const PeerDown& down) {
    if (leading_) leading_->lost(down.peer, now_);
  };
  std::visit(Cases{
                 [](const Tick&) {},
                 [&](Received& received) { on(received); },
                 note_written,
                 connected,
                 lost,
                 [&](Propose& proposals) { on(proposals); },
                 send_commit,
                 ask,
                 [&](const Transfer& transfer) { transfer_.ask(*options_, transfer, leading(), log_, now_, outbox_); },
                 [&](const ChangeMembership& change) { on(change); },
                 read_back,
                 [&](const Checkpointed& checkpoint) { log_.retention().checkpointed(checkpoint, log_.commit()); },
                 [&](const Pin& pin) { log_.retention().pin(pin.after); },
                 [&](const Installed& installed) { on(installed); },
                 [&](const RollbackCheckPassed&) { log_.rollback_check_passed(); },
                 [&](SettledMembers& told) { on(told); },
             },
             input);
}

// A message of a later term first makes us a follower in that term. The handler refuses a message of a term that is over.
// Until a disk has passed the rollback check, the replica keeps its term, to be compared with what peers remember.
void Core::Impl::on(Received& received) {
  const ReplicaId from = received.from;
  Message& message = received.message;
  reach_.look(log_.term(), now_, options_->election_timeout);
  if (const Term claimed = term_of(message); claimed > log_.term() && !reach_.covers(claimed))
    return reject_term_leap(from, message);
  if (!admission().admits(from, message)) return;
  if (log_.rollback_checked() && voting().begins_new_term(from, message)) {
    roles_.step_down(term_of(message));
    finish_step();
    if (is_answer(message)) return;  // to a question of a term that is over
  }
  std::visit(Cases{
                 [&](auto& request) { receive(from, request); },
                 [&](VoteReply& reply) {
                   if (campaigning_) campaigning_->receive(from, reply);
                 },
                 [&](AppendReply& reply) { leading_->receive(from, reply, here()); },
                 [&](HeartbeatReply& reply) { leading_->receive(from, reply, here()); },
             },
             message);
}

// The message is dropped, but a replica without a leader may have to approach the sender's term.
void Core::Impl::reject_term_leap(ReplicaId from, const Message& message) {
  leap_ = TermLeap{from, term_of(message), (leap_ ? leap_->count : 0) + 1};
  const bool leaderless = !leading_ && now_ - news_.contact >= options_->election_timeout;
  if (!leaderless || reach_.farthest() <= log_.term() || !log_.rollback_checked()) return;
  if (!admission().admits(from, message) || !voting().begins_new_term(from, message)) return;
  roles_.step_down(reach_.farthest());
  finish_step();
}

// A follower checks the time after the input: the input that it slept through may well have been a heartbeat.
void Core::Impl::watch_time() {
  if (leading_) {
    if (!leading_->heartbeat_comes_due(log_, now_)) return;
    if (transfer_.leave_stalled_disk(*options_, *leading_, log_, now_)) roles_.step_down(log_.term());
  } else if (now_ >= election_timer_.deadline()) {
    election_timer_.arm(now_);
    if (!voting().may_campaign()) return;
    roles_.request({Role::PreCandidate, log_.term()});
  } else if (now_ >= next_question()) {
    ask_for_votes();
  }
}

// Does everything that follows from a step.
void Core::Impl::finish_step() {
  const auto role_changes = [this] {
    const bool won = !roles_.requested() && campaigning_ && campaigning_->won(log_);
    if (won) roles_.request({roles_.role() == Role::PreCandidate ? Role::Candidate : Role::Leader, log_.term()});
    return roles_.requested();
  };
  while (role_changes()) perform(roles_.take_request());
  if (leading_) {
    leading_->advance_commit(log_);
    leading_->answer_questions(log_, outbox_);
    decide_members();
  }
  transfer_.judge(roles_.now(), leading(), log_, now_, outbox_);
  change_.judge(log_, outbox_);
  log_.drop_reached_floor();
}

// ---- proposals

// Only for commands: ChangeMembership changes the members.
ProposalOutcome::Kind Core::Impl::admit(const Proposal& proposal) const {
  using Kind = ProposalOutcome::Kind;
  if (!leading_) return Kind::NotLeader;
  if (transfer_.under_way()) return Kind::Transferring;
  if (log_.full()) return Kind::NoRoom;
  const size_t unsynced = log_.disk().unsynced_bytes();
  if (unsynced > 0 && unsynced + proposal.payload.size() > options_->unsynced_bytes_max) return Kind::NoRoom;
  return proposal.kind == EntryKind::Command ? Kind::Appended : Kind::NoRoom;
}

void Core::Impl::on(Propose& propose) {
  for (Proposal& proposal : propose.proposals) {
    ProposalOutcome outcome{.ticket = proposal.ticket, .kind = admit(proposal)};
    if (outcome.kind == ProposalOutcome::Kind::Appended) outcome.at = append(proposal.kind, std::move(proposal.payload));
    outbox_.outcomes.push_back(outcome);
  }
}

// Called on a leader only.
Position Core::Impl::append(EntryKind kind, SharedBytes payload) {
  Entry entry{.index = log_.last().index.next(), .term = log_.term(), .kind = kind, .payload = std::move(payload)};
  entry.content_sum = content_sum(options_->group, entry.term, entry.index, kind, entry.payload.view());
  const Position at = entry.position();
  log_.append(std::move(entry));
  leading_->match_changed();
  if (kind == EntryKind::Configuration) {
    news_.removed = false;
    leading_->members_changed(log_, streams_, now_);
  }
  return at;
}

// ---- drain

void Core::Impl::drain(Effects& effects) {
  effects.clear();
  if (leading_) {
    leading_->send_turn(here());
    transfer_.send_order(*leading_, log_, outbox_);
    effects.behind = leading_->catching_up(log_, now_).behind();
  }
  if (log_.checkpointed_beyond_base()) {
    effects.compact = log_.compact(leading_ ? leading_->catching_up(log_, now_).needed() : log_.needed_as_follower());
    if (effects.compact) reader_.compacted(effects.compact->index);
  }
  effects.write = log_.take_write();
  effects.reads.swap(reader_.requests());
  effects.leadership = roles_.take_change();
  outbox_.move_to(effects, log_);
}

void Core::Impl::applied(Index applied) {
  log_.raise_applied(applied);
  news_.freshness.applied(log_.applied());
  log_.evict_applied();
}

// ---- queries

LaggingTime Core::Impl::next_deadline() const {
  const LaggingTime transfer = transfer_.deadline();
  if (leading_) return std::min(leading_->next_deadline(log_, now_), transfer);
  if (!voting().electable()) return transfer;
  return std::min({election_timer_.deadline(), next_question(), transfer});
}

std::optional<Lease> Core::Impl::lease() const {
  const bool handed_over = transfer_.lease_void() == log_.term();
  if (!leading_ || handed_over) return std::nullopt;
  const std::optional<LaggingTime> since = leading_->lease_start(log_, now_);
  return since ? std::optional(Lease{*since, log_.commit()}) : std::nullopt;
}

// A leader knows everything committed up to its quorum's last contact, once an entry of its own term is committed.
std::optional<LaggingTime> Core::Impl::fresh_at() const {
  if (!leading_) return news_.freshness.at();
  if (!leading_->own_entry_committed(log_) || log_.applied() < log_.commit()) return std::nullopt;
  return leading_->quorum_contact(log_, now_);
}

Status Core::Impl::status() const {
  Status status{.leadership = roles_.now(),
                .hard_state = log_.disk().hard_state(),
                .base = log_.base(),
                .last = log_.last(),
                .commit = log_.commit(),
                .durable = log_.durable(),
                .cached_bytes = log_.cache().memory_bytes(),
                .leader_contact = news_.contact,
                .configuration = log_.configuration(),
                .configuration_index = log_.configuration_position().index,
                .leap = leap_,
                .lease_void = transfer_.lease_void()};
  if (!leading_) return status;
  status.quorum_contact = leading_->quorum_contact(log_, now_);
  status.successor = transfer_.target();
  for (const Progress& peer : leading_->peers()) {
    status.peers.push_back({peer.peer, peer.match, peer.next, peer.contact, peer.state == Progress::State::Behind});
  }
  return status;
}

// ---- door 3

void Effects::clear() {
  write.reset();
  sends.clear();
  outcomes.clear();
  confirmations.clear();
  transfers.clear();
  changes.clear();
  reads.clear();
  leadership.reset();
  compact.reset();
  contradiction.reset();
  behind.clear();
  commit = Index();
}

Core::Core(const Options& options, Recovered recovered, LaggingTime now)
    : impl_(std::make_unique<Impl>(options, std::move(recovered), now)) {}
Core::~Core() = default;
Core::Core(Core&&) noexcept = default;
Core& Core::operator=(Core&&) noexcept = default;

void Core::step(Input input, LaggingTime now) { impl_->step(std::move(input), now); }
void Core::drain(Effects& effects) { impl_->drain(effects); }
LaggingTime Core::next_deadline() const { return impl_->next_deadline(); }
std::span<const Entry> Core::committed(Index first, size_t bytes_max) { return impl_->committed(first, bytes_max); }
void Core::applied(Index applied) { impl_->applied(applied); }
Status Core::status() const { return impl_->status(); }
const Leadership& Core::leadership() const { return impl_->leadership(); }
std::optional<Lease> Core::lease() const { return impl_->lease(); }
Index Core::proven() const { return impl_->proven(); }
std::optional<LaggingTime> Core::fresh_at() const { return impl_->fresh_at(); }
Index Core::commit() const { return impl_->log().commit(); }
const Configuration& Core::configuration() const { return impl_->log().configuration(); }
Position Core::configuration_position() const { return impl_->log().configuration_position(); }
SettledMembers Core::settled_members() const { return raft::settled_members(impl_->log()); }
Index Core::leader_commit() const { return std::max(impl_->news().commit, impl_->log().commit()); }
bool Core::holds_back() const { return impl_->holds_back(); }
bool Core::removed() const { return impl_->news().removed; }
Index Core::base() const { return impl_->log().base().index; }
Index Core::durable() const { return impl_->log().durable(); }
Index Core::match(ReplicaId peer) const { return impl_->leading() ? impl_->leading()->peers().match(peer) : Index(); }
std::optional<Term> Core::term_at(Index index) const { return impl_->log().term_at(index); }
const HardState& Core::hard_state() const { return impl_->log().disk().hard_state(); }
bool Core::rollback_checked() const { return impl_->log().rollback_checked(); }
Position Core::floor() const { return impl_->log().floor(); }

}  // namespace coordkit::raft
