// One turn, read from top to bottom: run() is the flow, the functions below it are its steps in order, as far as they
// concern more than one part.
#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <span>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/check.h"
#include "base/with_reason.h"
#include "engine/apply/divergence.h"
#include "engine/loop/engine_impl.h"

namespace coordkit::engine {

void EngineImpl::turn(Now now, EngineEffects& effects) {
  effects.clear();
  Turn turn{now, effects, consensus_};
  try {
    failing_.told.ok() ? run(turn) : halt(failing_.told, effects);
  } catch (const std::bad_alloc&) {  // FLT_A18
    halt(failing_.last_words.no_memory(), effects);
  } catch (const MachineThrew& threw) {  // FLT_A07
    halt(make_error(Reason::HostThrew, threw.what()), effects);
  } catch (const NewerLevel& newer) {  // FLT_V02
    halt(make_error(Reason::NewerFormat, newer.what()), effects);
  } catch (const ContradictingLeader& leader) {  // FLT_P27
    quarantine(leader.what(), effects);
  } catch (const std::exception& error) {  // a failed check
    halt(make_error(Reason::BrokenInvariant, error.what()), effects);
  } catch (...) {
    halt(make_error(Reason::HostThrew, "a machine threw something that is no std::exception"), effects);
  }
  if (!failing_.told.ok()) {
    inbox_.take_all([](EngineInput&) {});
  } else if (condition_.halted()) {
    take_inputs(turn);  // remaining callers are told
  }
  clock_.ended(now);
  clock_.next_wanted(next_wanted());
}

void EngineImpl::run(Turn& turn) {
  const LaggingTime now = turn.now.lagging;
  clock_.began(turn.now);
  peers_.turn_began(now);
  notice_gap(turn);
  recall_.turn_begins(core());
  take_inputs(turn);
  if (condition_.halted()) return;
  if (!core() && !condition_.quarantined()) founding_.bootstrap(consensus_.writes(), turn.effects);
  if (core()) recall_.check(turn);
  if (core()) stand_aside(turn.effects);
  if (core()) {
    consensus_.tick(now);
    level_raise_.propose(state_.router(), peers_, turn);
    expirations_.propose(turn);
    calls_.proposal_path().propose(state_.router(), turn);
    state_.vote_digest(turn);
    calls_.reads().ask_leader(turn);
    calls_.members().ask_leader(state_.router(), peers_, turn);
    follow_members(turn);
    recall_.mend_log(turn);
    drain(turn);
    states_.step(checkpoints_.in_the_way(), turn);
    const bool awaited = consensus_.leads() || calls_.load().requests > 0;
    if (!state_.apply_can_wait(awaited, turn)) apply(turn);
    if (consensus_.send_commit_to_waiting(now)) drain(turn);
    if (core()) notice_removal(turn);
    if (core()) checkpoint(turn);
  } else if (founding_.gives_up(now)) {
    calls_.fail_requests(Reason::NotMember, founding_.reason(), turn.effects);
  }
  peers_.report_targets(core(), state_.router(), calls_.members().prospects(), turn.effects);
  answer(turn);
  peers_.drop_for_blank(turn.effects.sends);
}

// docs/time.md T6: turns that did not run are time in which no holder could renew, and any peer may have gone. Leadership is
// confirmed before anything expires.
void EngineImpl::notice_gap(Turn& turn) {
  if (condition_.halted() || !consensus_.leads()) return;
  const TurnClock::Gap gap = clock_.gap(turn.now);
  if (!gap.any) return;
  consensus_.step(raft::PeerDown{}, turn.now.lagging);
  if (expirations_.timers().leading()) expirations_.stood_still(gap, calls_.reads().confirm_for_gap(turn));
}

// ---- members

void EngineImpl::follow_members(Turn& turn) {
  const Router& router = state_.router();
  peers_.require(router.feature_level(), turn.now.lagging);
  if (const auto hellos = peers_.follow(*core(), router.genesis()->cluster)) {
    for (const Hello& hello : *hellos) welcome(hello, turn);
    recall_.forget_nonmembers(core()->configuration(), router.configuration());
  }
  peers_.inform(router, turn);
}

void EngineImpl::welcome(const Hello& hello, Turn& turn) {
  peers_.inform_soon();
  if (hello.cluster) recall_.connected(hello.from);
  if (!peers_.member(hello.from)) return;
  consensus_.step(raft::PeerUp{hello.from, hello.boot}, turn.now.lagging);
  states_.reconnected(hello.from);
}

void EngineImpl::notice_removal(Turn& turn) {
  const bool removed = peers_.removes_us(*core(), state_.router(), store());
  if (removed && !condition_.removed()) calls_.removed("this replica was removed from the cluster", turn.effects);
  condition_.set_removed(removed);
}

// ---- what the core has decided

void EngineImpl::drain(Turn& turn) {
  const LaggingTime now = turn.now.lagging;
  EngineEffects& effects = turn.effects;
  WriteGate& writes = consensus_.writes();
  raft::Effects& drained = consensus_.drain();
  if (drained.contradiction) throw ContradictingLeader(*drained.contradiction);
  for (const raft::ProposalOutcome& outcome : drained.outcomes) {
    expirations_.decided(outcome, now);
    consensus_.decided(outcome);
    calls_.proposal_path().decided(outcome, now);
  }
  if (drained.leadership) change_leadership(*drained.leadership, now, effects);
  if (drained.write) {
    drained.write->peers = recall_.take_changed();
    drained.write->feature_level = state_.router().feature_level();
    writes.submit(*std::move(drained.write), now, effects);
  }
  for (raft::Send& one : drained.sends) {
    peers_.sent(one, now);
    writes.send(std::move(one), effects);
  }
  for (const raft::Confirmation& one : drained.confirmations) calls_.reads().decided(one, expirations_, effects);
  for (const raft::ChangeOutcome& outcome : drained.changes) calls_.members().decided(outcome, turn);
  for (const raft::TransferOutcome& outcome : drained.transfers) calls_.members().decided(outcome, turn);
  effects.log_reads.insert(effects.log_reads.end(), drained.reads.begin(), drained.reads.end());
  if (drained.compact) effects.compact = drained.compact;
  writes.release(effects.sends);
}

void EngineImpl::take_sends(WriteNumber durable, std::vector<Outbound>& sends) {
  consensus_.writes().release(durable, sends);
  peers_.drop_for_blank(sends);
}

void EngineImpl::change_leadership(const raft::Leadership& leadership, LaggingTime now, EngineEffects& effects) {
  effects.leadership = leadership;
  consensus_.leadership_changed(leadership);
  calls_.leadership_changed();
  state_.leadership_changed();
  expirations_.leadership_changed();
  peers_.leadership_changed(leadership.term, now);
}

// ---- apply

void EngineImpl::apply(Turn& turn) {
  state_.stop();
  if (states_.installing()) return;
  RouterOutput* output = state_.apply(consensus_, options_.apply_bytes_per_turn);
  if (output == nullptr) return;
  checkpoints_.applied(state_.applied_bytes());
  state_.compare_digests(turn);
  const std::optional<Divergence>& divergence = turn.effects.divergence;
  if (divergence && divergence->verdict == Divergence::Verdict::Self) return quarantine(divergence->sentence, turn.effects);

  TimerKeeper& timers = expirations_.timers();
  for (const MachineTimerOp& one : output->timer_ops) timers.apply(one.machine, one.op, turn.now.lagging, applied());
  for (const Term term : output->leader_starts) {
    if (term != consensus_.term()) continue;
    if (consensus_.leads()) timers.lead(turn.now.lagging);  // T5
    calls_.members().leader_started(consensus_.leadership(), applied(), turn.effects);
  }
  for (const RouterOutput::InForce& one : output->configurations) {
    calls_.members().configuration_applied(one, turn.effects);
    peers_.inform_soon();
  }
  for (Answer& answer : output->answers) {
    consensus_.note_waiting(answer.request.origin.replica);
    if (is_remote(answer.request.origin.replica)) {
      turn.effects.remote_answers.push_back(
          {answer.request, answer.stage, answer.refused, std::move(answer.bytes), answer.index});
    } else {
      calls_.proposals().answered(std::move(answer), turn.effects.completions);
    }
  }
  for (const RequestId& request : output->overtaking) {
    consensus_.note_waiting(request.origin.replica);
    if (is_remote(request.origin.replica)) {
      turn.effects.remote_answers.push_back({.request = request, .overtook = true});
    } else {
      calls_.proposals().overtook(request);
    }
  }
  std::move(output->events.begin(), output->events.end(), std::back_inserter(turn.effects.events));
  std::move(output->acts.begin(), output->acts.end(), std::back_inserter(turn.effects.acts));
}

void EngineImpl::checkpoint(Turn& turn) {
  if (states_.installing()) return;
  if (absl::Status status = checkpoints_.collect(state_.router(), turn); !status.ok()) halt(std::move(status), turn.effects);
}

// ---- answers

namespace {

// A caller that found no leader in time is told which members were missing.
void explain_no_leader(std::span<Completion> expired, absl::FunctionRef<std::string()> explanation) {
  std::string why;
  for (Completion& one : expired) {
    if (reason_of(one.status) != Reason::NoLeader) continue;
    if (why.empty()) why = explanation();
    one.status = make_error(Reason::NoLeader, outcome_of(one.status), std::string(sentence_of(one.status)) + " (" + why + ")");
  }
}

}  // namespace

void EngineImpl::answer(Turn& turn) {
  std::vector<Completion>& completions = turn.effects.completions;
  calls_.reads().answer(state_.router(), expirations_, clock_.sleep(), turn);
  const size_t answered = completions.size();
  calls_.expire(turn.now.lagging, consensus_, state_.router(), turn.effects);
  if (!core() || consensus_.leader()) return;
  explain_no_leader(std::span(completions).subspan(answered), [this] {
    const LaggingTime last = clock_.last() ? clock_.last()->lagging : LaggingTime();
    return why_no_leader(core()->configuration(), clock_.last() ? peers_.missing(core(), last) : std::vector<MissingMember>());
  });
}

// ---- the end

// Fail-stop: nothing more is sent or promised, every call ends, the host process lives on. One that found no memory for that is
// repeated.
void EngineImpl::halt(absl::Status why, EngineEffects& effects) {
  if (failing_.halt_done) return;
  why = with_reason(std::move(why));
  if (!condition_.halted()) condition_.halt(std::string(sentence_of(why)));
  if (reason_of(why) == Reason::OutOfMemory) failing_.told = why;
  if (failing_.told.ok()) {
    cease_output(Reason::ReplicaFailed, effects);
  } else {  // the calls may be half-changed, and are the host's to answer
    effects.clear();
    consensus_.stop(effects);
  }
  effects.halted = std::move(why);
  failing_.halt_done = true;
}

// Up, silent, not voting: its log may be intact, but it must no longer be trusted.
void EngineImpl::quarantine(std::string why, EngineEffects& effects) {
  condition_.quarantine(std::move(why));
  cease_output(Reason::NotReady, effects);
  states_.stop(effects);
  tell_aside(peers_.present(), effects);
}

// A peer remembers of this disk what it lacks, before anybody has relied on it: silent as well, until the peer takes that back.
void EngineImpl::stand_aside(EngineEffects& effects) {
  std::string why = recall_.claim(*core());
  if (why == condition_.reason()) return;
  condition_.stand_aside(std::move(why));
  if (condition_.quarantined()) calls_.stop(Reason::NotReady, condition_.reason(), effects);
  tell_aside(peers_.present(), effects);
}

// Strangers are told nothing.
void EngineImpl::tell_aside(const std::vector<ReplicaId>& peers, EngineEffects& effects) {
  for (const ReplicaId peer : peers) {
    const Hello* hello = peers_.hello_of(peer);
    if (hello != nullptr && hello->cluster) effects.sends.push_back({peer, condition_.stepped_aside()});
  }
}

void EngineImpl::cease_output(Reason reason, EngineEffects& effects) {
  effects.sends.clear();
  effects.writes.clear();
  effects.renewals.clear();
  effects.log_reads.clear();
  effects.checkpoint.reset();
  effects.compact.reset();
  effects.peers.reset();
  effects.views.clear();
  effects.staging.clear();
  effects.restore.reset();
  consensus_.stop(effects);
  calls_.stop(reason, condition_.reason(), effects);
  expirations_.stop();
  state_.stop();
}

// Between turns only what is posted changes anything.
LaggingTime EngineImpl::next_deadline() const {
  return inbox_.empty() && clock_.last() ? clock_.promised() : LaggingTime::min();
}

// As things are at the end of a turn.
LaggingTime EngineImpl::next_wanted() const {
  if (!inbox_.empty()) return LaggingTime::min();
  if (condition_.halted()) return LaggingTime::max();
  if (state_.applies_later()) return clock_.last()->lagging + Duration(1);  // behind the effects of that turn
  if (state_.more_to_apply()) return LaggingTime::min();
  const bool led = consensus_.knows_leader();
  const LaggingTime calls = calls_.next_deadline(consensus_, state_.router());
  if (!core()) {
    const bool any = calls_.load().requests > 0;
    return any ? std::min(calls, founding_.next_deadline()) : calls;
  }
  return std::min({calls, expirations_.next_deadline(), level_raise_.next_deadline(consensus_, state_.router()),
                   led ? state_.next_vote() : LaggingTime::max(), recall_.next_deadline(),
                   peers_.next_deadline(consensus_, state_.router()), core()->next_deadline(), states_.next_deadline()});
}

}  // namespace coordkit::engine
