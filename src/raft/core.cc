// One step and one drain. The order within a step is fixed: what time alone decides, then the door, then the handler, then
// what follows from it (timers, role, commit, answers).
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "base/sums.h"
#include "raft/core_impl.h"

namespace coordkit::raft {
namespace {

// A log entry implies that its term was known; a genesis entry arrives before any hard state does.
HardState known_hard_state(const HardState& recovered, Position last) {
  return recovered.term >= last.term && !mutant(Mutant::VoteForgottenAtRestart) ? recovered : HardState{last.term, ReplicaId()};
}

// What is committed by definition: the checkpoint, and the genesis that every member stored before the first vote.
Index known_commit(const Recovered& recovered) {
  const bool genesis =
      !recovered.base.index && !recovered.entries.empty() && recovered.entries.front().kind == EntryKind::Genesis;
  return std::max({recovered.base.index, recovered.applied.index, genesis ? Index(1) : Index()});
}

// Up to where entries came without what they say (LogStore::checkpointed); zero: all are whole.
Index left_out(const std::vector<Entry>& entries, Index applied) {
  Index last;
  for (const Entry& entry : entries) {
    if (entry.index <= applied && entry.kind == EntryKind::Command && entry.payload.empty()) last = entry.index;
  }
  return last;
}

bool is_answer(const Message& message) {
  return std::holds_alternative<VoteReply>(message) || std::holds_alternative<AppendReply>(message) ||
         std::holds_alternative<HeartbeatReply>(message);
}

// INV_R21: the only ways from one role to another (thesis fig. 3.3, with the pre-vote phase of 9.6 before each candidacy
// but those a leader asked for, 3.10).
bool allowed(Role from, Role to, Cause cause) {
  switch (to) {
    case Role::Follower: return true;
    case Role::PreCandidate: return from != Role::Leader;
    case Role::Candidate: return from == Role::PreCandidate || (from == Role::Follower && cause == Cause::Transfer);
    case Role::Leader: return from == Role::Candidate;
  }
  return false;
}

}  // namespace

Core::Impl::Impl(const Options& options, Recovered recovered, LaggingTime now)
    : options_(options),
      now_(now),
      random_(options.seed),
      log_(recovered.base, std::move(recovered.configuration),
           recovered.configuration_index ? recovered.configuration_index : recovered.base.index, recovered.entries),
      disk_(recovered.log_replaced ? recovered.hard_state : known_hard_state(recovered.hard_state, log_.last()),
            log_.last().index),
      commit_(known_commit(recovered)),
      applied_(std::max(recovered.applied.index, recovered.base.index)),
      everyone_has_(recovered.base.index),
      checkpoint_(recovered.applied),
      retained_(recovered.base.index, options.log_retained_bytes),
      pinnable_(recovered.base.index, options.log_pinned_bytes),
      lag_(recovered.base.index, options.follower_lag_bytes_max),
      leader_contact_(now),
      attested_(recovered.attested),
      floor_(recovered.floor),
      told_commit_(commit_) {
  COORDKIT_CHECK_MSG(commit_ <= log_.last().index, "INV_R10 the checkpoint is ahead of the recovered log");
  vote_round_ = random_() >> 32;  // so that answers to an earlier incarnation are stale
  for (const Entry& entry : recovered.entries) weigh(entry);
  if (recovered.log_replaced) {
    disk_.reset(recovered.base);
    // The state may have been durable before the term it came in was.
    if (term() < recovered.base.term) disk_.set_hard_state({recovered.base.term, ReplicaId()});
  }
  leadership_.term = told_leadership_.term = term();
  log_.forget(left_out(recovered.entries, recovered.applied.index));
  if (lacks_promised() && !recovered.log_replaced) disk_.cut_behind();
  log_.evict(applied_, options_.cache_bytes_max);
  arm_election_timer();
}

void Core::Impl::step(Input input, LaggingTime now) {
  now_ = std::max(now_, now);
  watch_time_before_input();
  settle();
  std::visit([this](auto& value) { on(value); }, input);
  watch_time_after_input();
  settle();
}

// Anything of a later term first makes us a follower in it; what belongs to a term that is over is told so by the handlers.
// Until it is attested a disk keeps its term, to be compared with what peers remember.
void Core::Impl::on(Received& received) {
  if (!admissible(received.from, received.message)) return note_leap(received.from, received.message);
  if (attested_ && begins_new_term(received.from, received.message)) {
    const Term newer = std::visit([](const auto& message) { return message.term; }, received.message);
    request({Role::Follower, newer, ReplicaId()});
    settle();
    if (is_answer(received.message)) return;  // to a question of a term that is over
  }
  std::visit([&](auto& message) { receive(received.from, message); }, received.message);
}

void Core::Impl::on(const Written& written) {
  disk_.written(written.number);
  matches_changed_ = true;
}

void Core::Impl::on(Propose& propose) {
  for (Proposal& proposal : propose.proposals) {
    const ProposalFate::Kind kind = admit(proposal);
    ProposalFate fate{.ticket = proposal.ticket, .kind = kind};
    if (kind == ProposalFate::Kind::Appended) {
      Entry entry{
          .index = log_.last().index.next(), .term = term(), .kind = proposal.kind, .payload = std::move(proposal.payload)};
      entry.content_sum = content_sum(options_.group, entry.term, entry.index, entry.kind, entry.payload.view());
      fate.at = entry.position();
      append(std::move(entry));
    }
    fates_.push_back(fate);
  }
}

// ---- roles

// Of two requests within one step the later term wins, then the later request.
void Core::Impl::request(const Transition& transition) {
  if (!requested_ || transition.term >= requested_->term) requested_ = transition;
}

void Core::Impl::settle() {
  for (count_votes(); requested_; count_votes()) perform(*std::exchange(requested_, std::nullopt));
  if (leads()) {
    advance_commit();
    answer_questions();
    leave_joint();
    retire();
  }
  judge_transfer();
  judge_change();
  drop_reached_floor();
}

void Core::Impl::perform(const Transition& transition) {
  COORDKIT_CHECK_MSG(allowed(leadership_.role, transition.role, cause_), "INV_R21 role");
  COORDKIT_CHECK_MSG(transition.term >= term(), "INV_R03 term");
  switch (transition.role) {
    case Role::Follower: return become_follower(transition);
    case Role::PreCandidate: return become_pre_candidate();
    case Role::Candidate: return become_candidate();
    case Role::Leader: return become_leader();
  }
}

// ---- shared by the handlers

void Core::Impl::send(ReplicaId to, WriteNumber after, Message message) {
  COORDKIT_CHECK_MSG(after <= disk_.next_write(), "INV_R17 waits for a write that may never be");
  sends_.push_back({to, after, std::move(message)});
}

void Core::Impl::append(Entry entry) {
  disk_.appended(entry.bytes());
  weigh(entry);
  const bool changes_members = entry.kind == EntryKind::Configuration;
  log_.append(std::move(entry));
  matches_changed_ = true;
  if (!changes_members) return;
  everyone_has_ = log_.base().index;
  quiet_ = false;
  if (leads()) match_peers_to_configuration();
}

void Core::Impl::weigh(const Entry& entry) {
  retained_.append(entry.index, entry.bytes());
  pinnable_.append(entry.index, entry.bytes());
  lag_.append(entry.index, entry.bytes());
}

void Core::Impl::raise_commit(Index to) {
  if (to <= commit_) return;
  COORDKIT_CHECK_MSG(to <= log_.last().index, "INV_R03 commit beyond the log");
  commit_ = to;
}

// ---- drain

void Core::Impl::drain(Effects& effects) {
  effects.clear();
  if (leads()) lead();
  effects.compact = compact();
  effects.behind = behind();
  effects.write = disk_.take(log_);
  effects.sends.swap(sends_);
  effects.fates.swap(fates_);
  effects.confirmations.swap(confirmations_);
  effects.transfers.swap(transfers_);
  effects.changes.swap(changes_);
  effects.reads.swap(read_requests_);
  if (leadership_ != told_leadership_) effects.leadership = told_leadership_ = leadership_;
  COORDKIT_CHECK_MSG(commit_ >= told_commit_, "INV_R03 commit");
  effects.commit = told_commit_ = commit_;
}

LaggingTime Core::Impl::next_deadline() const {
  const LaggingTime handover = handover_ ? handover_->deadline : LaggingTime::max();
  if (leads()) return std::min({heartbeat_deadline_, quorum_contact() + options_.election_timeout, handover});
  return electable() ? std::min(election_deadline_, handover) : handover;
}

Status Core::Impl::status() const {
  Status status{.leadership = leadership_,
                .hard_state = disk_.hard_state(),
                .base = log_.base(),
                .last = log_.last(),
                .commit = commit_,
                .durable = disk_.durable(),
                .leader_contact = leader_contact_,
                .configuration = configuration(),
                .configuration_index = log_.configuration_index(),
                .leap = leap_,
                .lease_void = lease_void_};
  if (!leads()) return status;
  status.quorum_contact = quorum_contact();
  if (handover_) status.successor = handover_->target;
  for (const Progress& peer : peers_) {
    status.peers.push_back({peer.peer, peer.match, peer.next, peer.contact, peer.state == Progress::State::Behind});
  }
  return status;
}

// ---- the door

void Effects::clear() {
  write.reset();
  sends.clear();
  fates.clear();
  confirmations.clear();
  transfers.clear();
  changes.clear();
  reads.clear();
  leadership.reset();
  compact.reset();
  behind.clear();
  commit = Index();
}

Core::Core(const Options& options, Recovered recovered, LaggingTime now)
    : impl_(std::make_unique<Impl>(options, std::move(recovered), now)) {}
Core::Core(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
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
std::optional<LaggingTime> Core::fresh_at() const { return impl_->fresh_at(); }
Index Core::commit() const { return impl_->commit(); }
const Configuration& Core::configuration() const { return impl_->configuration(); }
Position Core::configuration_position() const { return impl_->configuration_position(); }
Index Core::leader_commit() const { return impl_->leader_commit(); }
bool Core::holds_back() const { return impl_->holds_back(); }
bool Core::removed() const { return impl_->removed(); }
Index Core::base() const { return impl_->base(); }
Index Core::durable() const { return impl_->durable(); }
Index Core::match(ReplicaId peer) const { return impl_->match(peer); }
std::optional<Term> Core::term_at(Index index) const { return impl_->term_at(index); }
const HardState& Core::hard_state() const { return impl_->hard_state(); }
bool Core::attested() const { return impl_->attested(); }
Position Core::floor() const { return impl_->floor(); }

}  // namespace coordkit::raft
