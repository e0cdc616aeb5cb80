// One turn, read from top to bottom: run() is the flow, the functions below it are its stations in order.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "base/with_reason.h"
#include "engine/engine_impl.h"

namespace coordkit::engine {
namespace {

constexpr size_t kFiredEntriesPerTurn = 8;

}  // namespace

void EngineImpl::turn(Now now, EngineEffects& effects) {
  effects.clear();
  effects_ = &effects;
  try {
    run(now);
  } catch (const MachineThrew& threw) {  // FLT_A07
    halt(make_error(Reason::HostThrew, threw.what()));
  } catch (const std::exception& error) {  // a check that did not hold
    halt(make_error(Reason::BrokenInvariant, error.what()));
  } catch (...) {
    halt(make_error(Reason::HostThrew, "a machine threw something that is no std::exception"));
  }
  if (halted_) take_inputs(now);  // whoever still knocked is told so
  effects_ = nullptr;
  last_turn_ = now;
  promised_ = next_deadline();
}

void EngineImpl::run(Now now) {
  sleep_.sample(now);
  attendance_.began(now.lagging);
  if (!halted_) notice_gap(now);
  campaign_ = core_ && core_->leadership().role == raft::Role::Candidate ? core_->leadership().term : Term();
  take_inputs(now);
  if (halted_) return;
  found();
  if (core_) attest(now);
  if (core_) {
    if (core_->next_deadline() <= now.lagging) core_->step(raft::Tick{}, now.lagging);
    fire_timers(now);
    propose(now);
    vote_digest(now);
    ask_questions(now);
    ask_about_members(now);
    follow_members(now);
    mend_log();
    drain(now);
    transfer_states(now);
    apply(now);
    if (core_) notice_own_standing();
    if (core_) checkpoint();
  } else {
    fail_uninvited(now);
  }
  tell_peers();
  answer(now);
  spare_the_blank();
}

// docs/time.md T6: turns that did not happen are time in which nobody could be renewed. Leadership is confirmed before
// anything ends.
void EngineImpl::notice_gap(Now now) {
  if (!last_turn_ || !keeper_.leading()) return;
  const Duration delta = options_.raft.election_timeout / 2;
  const LaggingTime expected = std::max(last_turn_->lagging, std::min(promised_, now.lagging));
  const Duration late = now.lagging - expected;
  const Duration suspended = (now.leading - last_turn_->leading) - (now.lagging - last_turn_->lagging);
  if (late <= delta && suspended <= delta) return;
  if (late > delta && !mutant(Mutant::GapForgotten)) keeper_.shift(late);
  gap_check_ = confirm(GapCheck{}, now);
}

void EngineImpl::found() {
  if (core_ || quarantined_ || founding_write_) return;
  std::optional<raft::Genesis> genesis = founding_.take_pending();
  if (!genesis) return;
  writes_before_core_ = 1;
  effects_->writes.push_back({.number = WriteNumber(1),
                              .hard_state = raft::HardState{Term(1), ReplicaId()},
                              .entries = {genesis_entry(options_.raft.group, *genesis)}});
  founding_write_ = std::move(genesis);
}

void EngineImpl::start_core(raft::Recovered recovered, LaggingTime now) {
  core_.emplace(options_.raft, std::move(recovered), now);
  leadership_ = core_->leadership();
  // Genesis is committed by definition: from here on the members are known and can be offered it.
  router_output_.clear();
  router_.apply(core_->committed(router_.applied().index.next(), SIZE_MAX), router_output_);
  core_->applied(router_.applied().index);
  if (router_.genesis()) effects_->cluster = router_.genesis()->cluster;
  follow_members({now, {}});
}

// Many deaths at once take several turns, so that the living are served in between (F-26).
void EngineImpl::fire_timers(Now now) {
  if (!leads() || gap_check_ || now.lagging < fire_again_) return;
  raft::Propose propose;
  while (propose.proposals.size() < kFiredEntriesPerTurn) {
    auto fired = keeper_.collect(now.lagging, mutant(Mutant::EntriesUnbounded) ? kFiredTimersMax : options_.timers_per_entry);
    if (!fired) break;
    fired->term = leadership_.term;
    const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
    propose.proposals.push_back({ticket, raft::EntryKind::Command, SharedBytes(encode(*fired))});
    firing_.emplace(ticket, *std::move(fired));
  }
  if (!propose.proposals.empty()) core_->step(std::move(propose), now.lagging);
}

void EngineImpl::propose(Now now) {
  proposals_.known_as_origin(router_.origins().registered(origin_), effects_->completions);
  if (!knows_leader()) return;
  std::vector<Proposals::Handover> handovers;
  proposals_.collect(now.lagging, router_.origins().registered(origin_), handovers);
  if (handovers.empty()) return;
  if (!leads()) return forward(std::move(handovers));
  raft::Propose propose;
  for (Proposals::Handover& handover : handovers) {
    const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
    if (handover.sequence) handed_.emplace(ticket, Handed{handover.sequence, handover.handing});
    propose.proposals.push_back({ticket, raft::EntryKind::Command, std::move(handover.payload)});
  }
  core_->step(std::move(propose), now.lagging);
}

// In messages of about the size of an append.
void EngineImpl::forward(std::vector<Proposals::Handover> handovers) {
  Forward message;
  size_t bytes = 0;
  for (Proposals::Handover& handover : handovers) {
    if (!message.commands.empty() && bytes + handover.payload.size() > options_.raft.append_bytes_max) {
      effects_->sends.push_back({leadership_.leader, std::exchange(message, {})});
      bytes = 0;
    }
    bytes += handover.payload.size();
    message.commands.push_back(std::move(handover.payload));
  }
  effects_->sends.push_back({leadership_.leader, std::move(message)});
}

Ticket EngineImpl::confirm(Purpose purpose, Now now) {
  const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
  questions_.emplace(ticket, purpose);
  core_->step(raft::Confirm{ticket}, now.lagging);
  return ticket;
}

void EngineImpl::ask_questions(Now now) {
  if (!knows_leader()) return;
  if (const uint64_t id = reads_.question(now.lagging); id != 0) {
    if (leads()) {
      confirm(OwnRead{id}, now);
    } else {
      effects_->sends.push_back({leadership_.leader, ReadIndexRequest{id}});
    }
  }
  if (leads() && renewals_.unconfirmed()) renewals_.question(confirm(RenewalRound{}, now));
}

void EngineImpl::drain(Now now) {
  core_->drain(core_effects_);
  for (const raft::ProposalFate& fate : core_effects_.fates) settle(fate, now);
  if (core_effects_.leadership) settle(*core_effects_.leadership);
  if (core_effects_.write) {
    LogWrite write = *std::move(core_effects_.write);
    write.number = to_store(write.number);
    write.peers = marks_.take_changed();
    submitted_ = write.number;
    if (!writing_since_) writing_since_ = now.lagging;
    effects_->writes.push_back(std::move(write));
  }
  for (raft::Send& one : core_effects_.sends) {
    round_trips_.sent(one.to, one.message, now.lagging);
    send(std::move(one));
  }
  for (const raft::Confirmation& confirmation : core_effects_.confirmations) settle(confirmation);
  for (const raft::ChangeFate& fate : core_effects_.changes) settle(fate, now);
  for (const raft::TransferFate& fate : core_effects_.transfers) settle(fate, now);
  effects_->log_reads.insert(effects_->log_reads.end(), core_effects_.reads.begin(), core_effects_.reads.end());
  if (core_effects_.compact) effects_->compact = core_effects_.compact;
  while (!outbox_.empty() && outbox_.begin()->first <= durable_) {
    effects_->sends.push_back(std::move(outbox_.begin()->second));
    outbox_.erase(outbox_.begin());
  }
}

// The one rule that orders I/O: a send waits until `after <= durable`.
void EngineImpl::send(raft::Send one) {
  Outbound outbound{one.to, std::visit([](auto& message) { return Message(std::move(message)); }, one.message)};
  const WriteNumber after = one.after ? to_store(one.after) : WriteNumber();
  if (after <= durable_ || mutant(Mutant::SendsAtOnce)) {
    effects_->sends.push_back(std::move(outbound));
  } else {
    outbox_.emplace(after, std::move(outbound));
  }
}

void EngineImpl::settle(const raft::Leadership& leadership) {
  leadership_ = leadership;
  effects_->leadership = leadership;
  proposals_.leadership_changed();
  reads_.leadership_changed();
  divergence_.leadership_changed();
  renewals_.drop_all();
  change_.leadership_changed();
  transfer_.leadership_changed();
  greet_again_ = LaggingTime::min();
  keeper_.follow();
  firing_.clear();
  handed_.clear();
  forwarded_.clear();
  gap_check_.reset();
  fire_again_ = LaggingTime::min();
}

void EngineImpl::settle(const raft::ProposalFate& fate, Now now) {
  const bool appended = fate.kind == raft::ProposalFate::Kind::Appended;
  const LaggingTime later = now.lagging + options_.raft.heartbeat_interval;
  if (const auto fired = firing_.find(fate.ticket); fired != firing_.end()) {
    if (!appended) {
      if (!mutant(Mutant::EndProposedOnce)) keeper_.unfire(fired->second);
      fire_again_ = later;
    }
    firing_.erase(fired);
  }
  forwarded_.settled(fate);
  if (const auto own = handed_.find(fate.ticket); own != handed_.end()) {
    // Appended in this term it stays in the log as long as the term lasts, and the next change of leadership starts over.
    if (appended) {
      proposals_.postpone(own->second.sequence, LaggingTime::max());
    } else {
      proposals_.refused(own->second.sequence, own->second.handing, later);
    }
    handed_.erase(own);
  }
}

void EngineImpl::settle(const raft::Confirmation& confirmation) {
  const auto question = questions_.find(confirmation.ticket);
  if (question == questions_.end()) return;
  const Purpose purpose = question->second;
  questions_.erase(question);
  const bool held = confirmation.held == raft::Answer::Yes;
  if (const auto* peer = std::get_if<PeerRead>(&purpose)) {
    effects_->sends.push_back({peer->peer, ReadIndexReply{peer->id, confirmation.held, confirmation.read_index}});
  } else if (const auto* own = std::get_if<OwnRead>(&purpose)) {
    if (held) reads_.confirmed(own->id, confirmation.read_index);
  } else if (std::holds_alternative<RenewalRound>(purpose)) {
    if (held) renewals_.confirmed(confirmation.ticket, confirmation.read_index);
  } else if (held && gap_check_ == confirmation.ticket) {  // an older question would not speak for the newest gap
    gap_check_.reset();
  }
}

void EngineImpl::apply(Now now) {
  more_to_apply_ = false;
  if (receiver_.installing()) return;
  router_output_.clear();
  const std::span<const raft::Entry> entries = core_->committed(router_.applied().index.next(), options_.apply_bytes_per_turn);
  if (entries.empty()) return;
  for (const raft::Entry& entry : entries) bytes_since_checkpoint_ += entry.bytes();
  router_.apply(entries, router_output_);
  core_->applied(router_.applied().index);
  forwarded_.applied(router_.applied().index);
  more_to_apply_ = router_.applied().index < core_->commit();
  if (!compare_digests()) return;

  for (const MachineTimerOp& one : router_output_.timer_ops)
    keeper_.apply(one.machine, one.op, now.lagging, router_.applied().index);
  for (const Term term : router_output_.leader_starts) {
    if (leads() && term == leadership_.term) keeper_.lead(now.lagging);  // T5
    if (term == leadership_.term) transfer_.leader_started(leadership_, router_.applied().index, effects_->completions);
  }
  for (const RouterOutput::InForce& one : router_output_.configurations) {
    change_.applied(one.at, one.configuration, effects_->completions);
    greet_again_ = LaggingTime::min();
  }
  for (Answer& answer : router_output_.answers) proposals_.answered(std::move(answer), effects_->completions);
  std::move(router_output_.events.begin(), router_output_.events.end(), std::back_inserter(effects_->events));
}

void EngineImpl::checkpoint() {
  const Position applied = router_.applied();
  if (checkpoint_under_way_ || receiver_.installing() || applied.index > core_->durable() || !checkpoint_due()) return;
  CheckpointBatch& batch = effects_->checkpoint.emplace();
  if (repair_.whole_owed()) {
    if (absl::Status status = router_.whole_checkpoint(batch); !status.ok()) return halt(std::move(status));
    repair_.writing_whole();
  } else {
    router_.checkpoint(batch);
  }
  checkpoint_under_way_ = true;
  bytes_since_checkpoint_ = 0;
}

bool EngineImpl::checkpoint_due() const {
  if (repair_.whole_owed()) return true;
  const Index applied = router_.applied().index;
  if (applied <= checkpointed_) return false;
  return applied - checkpointed_ >= options_.checkpoint_entries || bytes_since_checkpoint_ >= options_.checkpoint_bytes ||
         repair_.checkpoint_wanted(checkpointed_, applied);
}

void EngineImpl::answer(Now now) {
  reads_.collect(router_.applied().index, ready_);
  std::reverse(ready_.begin(), ready_.end());
  for (; !ready_.empty(); ready_.pop_back()) {
    const Ask& ask = ready_.back();
    Completion completion{.ticket = ask.ticket, .index = router_.applied().index};
    if (ask.consistency == Consistency::Local) completion.age = age(now);
    if (ask.question) query(ask, completion);
    effects_->completions.push_back(std::move(completion));
  }
  std::vector<AnsweredRenewal> renewed;
  renewals_.answer(router_.applied().index, now.lagging, keeper_, renewed);
  for (AnsweredRenewal& one : renewed) {
    if (one.to == self()) {
      effects_->renewals.push_back(std::move(one.reply));
    } else {
      effects_->sends.push_back({one.to, std::move(one.reply)});
    }
  }
  const size_t answered = effects_->completions.size();
  proposals_.expire(now.lagging, effects_->completions);
  reads_.expire(now.lagging, effects_->completions);
  change_.expire(now.lagging, effects_->completions);
  transfer_.expire(now.lagging, effects_->completions);
  explain_no_leader(answered);
}

// To whom nobody led in time is told who was missing.
void EngineImpl::explain_no_leader(size_t first) {
  if (!core_ || leadership_.leader) return;
  std::string why;
  for (size_t i = first; i < effects_->completions.size(); ++i) {
    absl::Status& status = effects_->completions[i].status;
    if (reason_of(status) != Reason::NoLeader) continue;
    if (why.empty()) why = why_no_leader(core_->configuration(), missing());
    status = make_error(Reason::NoLeader, outcome_of(status), std::string(sentence_of(status)) + " (" + why + ")");
  }
}

// A read changes nothing, so one that throws costs nobody but who asked.
void EngineImpl::query(const Ask& ask, Completion& completion) {
  std::string why;
  try {
    absl::StatusOr<std::string> answer = router_.machine(ask.machine)->query(*ask.question);
    if (answer.ok()) {
      completion.bytes = *std::move(answer);
    } else {
      completion.status = make_error(Reason::InvalidArgument, sentence_of(answer.status()));
    }
    return;
  } catch (const CheckFailure&) {
    throw;  // one of our own facts, and the state is its subject
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "something that is no std::exception";
  }
  effects_->threw.push_back(make_error(Reason::HostThrew, Outcome::None,
                                       "query() of machine " + std::to_string(ask.machine.value()) + " threw: " + why));
  completion.status = effects_->threw.back();
}

std::optional<Duration> EngineImpl::age(Now now) const {
  const std::optional<LaggingTime> fresh_at = core_ ? core_->fresh_at() : std::nullopt;
  if (!fresh_at) return std::nullopt;
  const Duration asleep = sleep_.since(*fresh_at);
  return asleep == Duration::max() ? asleep : now.lagging - *fresh_at + asleep;
}

// Fail-stop: nothing more is sent or promised, every call ends, the host process lives.
void EngineImpl::halt(absl::Status why) {
  if (halted_) return;
  why = with_reason(std::move(why));
  reason_ = std::string(sentence_of(why));
  halted_ = why;
  fall_silent(Reason::ReplicaFailed);
  effects_->halted = std::move(why);
}

void EngineImpl::fall_silent(Reason reason) {
  effects_->sends.clear();
  effects_->writes.clear();
  effects_->renewals.clear();
  effects_->log_reads.clear();
  effects_->checkpoint.reset();  // a machine may have thrown half way through it
  effects_->compact.reset();
  effects_->peers.reset();
  effects_->views.clear();
  effects_->staging.clear();
  effects_->restore.reset();
  const raft::Leadership none{raft::Role::Follower, leadership_.term, ReplicaId()};
  if (leadership_ != none) effects_->leadership = leadership_ = none;
  proposals_.fail_all(reason, reason_, effects_->completions);
  reads_.fail_all(reason, reason_, effects_->completions);
  change_.fail(reason, reason_, effects_->completions);
  transfer_.fail(reason, reason_, effects_->completions);
  for (const Ask& ask : std::exchange(ready_, {})) {
    effects_->completions.push_back({.ticket = ask.ticket, .status = make_error(reason, Outcome::None, reason_)});
  }
  renewals_.drop_all();
  keeper_.follow();
  outbox_.clear();
  founding_write_.reset();
  more_to_apply_ = false;
  core_.reset();
}

LaggingTime EngineImpl::next_deadline() const {
  if (!inbox_.empty() || !last_turn_) return LaggingTime::min();
  if (halted_) return LaggingTime::max();
  if (more_to_apply_) return LaggingTime::min();
  LaggingTime next = std::min({proposals_.next_deadline(road()), reads_.next_deadline(knows_leader()),
                               change_.next_deadline(knows_leader()), transfer_.next_deadline(knows_leader())});
  if (!core_) return next_uninvited(next);
  if (!gap_check_) next = std::min(next, std::max(fire_again_, keeper_.next_deadline()));
  if (knows_leader()) next = std::min(next, divergence_.next_deadline());
  next = std::min(next, attestation_.next_deadline());
  return std::min({next, next_greeting(), core_->next_deadline(), sender_.next_deadline(), receiver_.next_deadline()});
}

}  // namespace coordkit::engine
