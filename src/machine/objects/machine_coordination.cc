#include "machine/objects/machine_coordination.h"

#include <utility>

#include "base/check.h"
#include "machine/objects/object_views.h"

namespace coordkit::machine {
namespace {

using coordination::Attempt;
using coordination::Coordination;
using coordination::Verdict;

ResultCode code_of(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::Ok: return ResultCode::Ok;
    case Verdict::Kind::Granted: return ResultCode::Granted;
    case Verdict::Kind::Queued: return ResultCode::Queued;
    case Verdict::Kind::Held: return ResultCode::Held;
    case Verdict::Kind::WaitTimeout: return ResultCode::WaitTimeout;
    case Verdict::Kind::Cancelled: return ResultCode::Cancelled;
    case Verdict::Kind::Lost: return ResultCode::Lost;
    case Verdict::Kind::Broken: return ResultCode::Broken;
    case Verdict::Kind::NotFound: return ResultCode::NotFound;
    case Verdict::Kind::AlreadyExists: return ResultCode::AlreadyExists;
    case Verdict::Kind::NotOwner: return ResultCode::NotOwner;
    case Verdict::Kind::TooManyParties: return ResultCode::TooManyParties;
    case Verdict::Kind::InvalidArgument: return ResultCode::InvalidArgument;
    case Verdict::Kind::Overflow: return ResultCode::CounterOverflow;
  }
  return ResultCode::InvalidArgument;
}

Result result_of(Verdict verdict) {
  return {.code = code_of(verdict.kind),
          .token = verdict.token,
          .since = verdict.since,
          .position = verdict.position,
          .id = verdict.id,
          .number = verdict.number,
          .swapped = verdict.swapped,
          .value = std::move(verdict.value)};
}

Attempt attempt_of(const auto& command) {
  return {.session = command.session,
          .name = command.name,
          .waits = command.wait.kind != Wait::Kind::None,
          .timeout = command.wait.timeout};
}

// ---- one per kind of command

Verdict run(const SetSemaphoreLimit& set, Coordination& state, coordination::Step& step) {
  return state.semaphores.set_limit(step, set.name, set.limit);
}
Verdict run(const AcquirePermits& acquire, Coordination& state, coordination::Step& step) {
  return state.semaphores.acquire(step, attempt_of(acquire), acquire.count, acquire.initial_limit);
}
Verdict run(const DeleteSemaphore& erase, Coordination& state, coordination::Step& step) {
  return state.semaphores.erase(step, erase.name);
}
Verdict run(const CreateLatch& create, Coordination& state, coordination::Step& step) {
  return state.latches.create(step, create.name, create.count);
}
Verdict run(const CountDown& count, Coordination& state, coordination::Step& step) {
  return state.latches.count_down(step, count.name, count.by);
}
Verdict run(const AwaitLatch& await, Coordination& state, coordination::Step& step) {
  return state.latches.wait(step, attempt_of(await));
}
Verdict run(const DeleteLatch& erase, Coordination& state, coordination::Step& step) {
  return state.latches.erase(step, erase.name);
}
Verdict run(const CloseBarrier& close, Coordination& state, coordination::Step& step) {
  return state.barriers.close(step, close.session, close.name, close.at_end);
}
Verdict run(const OpenBarrier& open, Coordination& state, coordination::Step& step) {
  return state.barriers.open(step, open.name);
}
Verdict run(const AwaitBarrier& await, Coordination& state, coordination::Step& step) {
  return state.barriers.wait(step, attempt_of(await));
}
Verdict run(const EnterBarrier& enter, Coordination& state, coordination::Step& step) {
  return state.double_barriers.enter(step, attempt_of(enter), enter.parties, enter.at_end);
}
Verdict run(const LeaveBarrier& leave, Coordination& state, coordination::Step& step) {
  return state.double_barriers.leave(step, attempt_of(leave), leave.token);
}
Verdict run(const Enqueue& enqueue, Coordination& state, coordination::Step& step) {
  return state.queues.enqueue(step, enqueue.name, enqueue.priority, enqueue.value);
}
Verdict run(const ClaimItem& claim, Coordination& state, coordination::Step& step) {
  return state.queues.claim(step, attempt_of(claim), claim.term);
}
Verdict run(const AcknowledgeItem& done, Coordination& state, coordination::Step& step) {
  return state.queues.acknowledge(step, done.session, done.name, done.token);
}
Verdict run(const ChangeCounter& change, Coordination& state, coordination::Step& step) {
  using Operation = ChangeCounter::Operation;
  switch (change.operation) {
    case Operation::Add: return state.counters.add(step, change.name, change.operand);
    case Operation::Set: return state.counters.set(step, change.name, change.operand);
    case Operation::CompareAndSet: return state.counters.compare_and_set(step, change.name, change.expected, change.operand);
    case Operation::Allocate: return state.counters.allocate(step, change.name, change.operand);
    case Operation::Delete: return state.counters.erase(step, change.name);
  }
  return {.kind = Verdict::Kind::InvalidArgument};
}
Verdict run(const JoinGroup& join, Coordination& state, coordination::Step& step) {
  return state.groups.join(step, {join.name, join.session, join.owner_tag}, join.value);
}
Verdict run(const UpdateMember& update, Coordination& state, coordination::Step& step) {
  return state.groups.update(step, {update.name, update.session, update.owner_tag}, update.value);
}
Verdict run(const LeaveGroup& leave, Coordination& state, coordination::Step& step) {
  return state.groups.leave(step, {leave.name, leave.session, leave.owner_tag});
}

}  // namespace

// Collects the decisions of this entry; decide_waits() announces them.
template <typename Run>
auto MachineCoordination::coordinate(const ApplyStep& step, Run run) {
  const auto next_token = [this] { return Token(state_.counter.next()); };
  coordination::Step inner{step.index, step.request, next_token, state_.coordination.waits, decisions_, changes_, timers_};
  return run(inner);
}

Answer MachineCoordination::execute(CoordinationCommand& command, ApplyStep& step) {
  Verdict verdict = coordinate(step, [&](coordination::Step& inner) {
    return std::visit([&](const auto& one) { return run(one, state_.coordination, inner); }, command);
  });
  if (verdict.kind != Verdict::Kind::Queued) return result_of(std::move(verdict));
  step.answer(result_of(std::move(verdict)), ApplyOutput::Stage::Queued);
  const Duration timeout = state_.coordination.waits.rows().at(step.index).timeout;
  if (timeout > Duration::zero()) {
    step.output.timer_ops.push_back({TimerOp::Kind::Arm, wait_timer(step.index), Generation(0), timeout, {}});
  }
  return std::nullopt;
}

bool MachineCoordination::release(SessionId session, std::string_view name, Token token, ApplyStep& step) {
  return coordinate(step, [&](coordination::Step& inner) { return state_.coordination.release(session, name, token, inner); });
}

Answer MachineCoordination::cancel(SessionId session, const RequestId& request, ApplyStep& step) {
  const bool cancelled =
      coordinate(step, [&](coordination::Step& inner) { return state_.coordination.cancel(session, request, inner); });
  if (cancelled) return Result{.code = ResultCode::Cancelled};
  auto grant = state_.coordination.granted(request);
  if (grant && grant->session == session) return result_of(std::move(grant->verdict));
  return std::nullopt;
}

void MachineCoordination::end(SessionId session, ApplyStep& step) {
  coordinate(step, [&](coordination::Step& inner) { state_.coordination.end(session, inner); });
}

void MachineCoordination::end_waits(SessionId session, coordination::Waiter waiter, ApplyStep& step) {
  coordinate(step, [&](coordination::Step& inner) { state_.coordination.end_waits(session, waiter, inner); });
}

void MachineCoordination::regrant(SessionId session, ApplyStep& step) {
  coordinate(step, [&](coordination::Step& inner) { state_.coordination.regrant_all(session, inner); });
}

void MachineCoordination::time_out(const FiredTimer& timer, ApplyStep& step) {
  const Index queued(timer.id.value() & ~kWaitTimerBit);
  coordinate(step, [&](coordination::Step& inner) {
    return timer.generation == Generation(0)
               ? state_.coordination.time_out(queued, inner)
               : state_.coordination.queues.time_out(inner, queued, Token(timer.generation.value()));
  });
}

void MachineCoordination::decide_waits(ApplyStep& step) {
  if (!state_.coordination.nothing_touched()) {
    coordinate(step, [&](coordination::Step& inner) { state_.coordination.decide_waits(inner); });
  }
  for (coordination::Decision& decision : decisions_) {
    if (decision.timed) {
      step.output.timer_ops.push_back({TimerOp::Kind::Disarm, wait_timer(decision.queued), {}, {}, {}});
    }
    const bool granted = decision.verdict.kind == Verdict::Kind::Granted;
    if (granted) COORDKIT_CHECK_MSG(state_.sessions.contains(decision.session), "INV_L07");
    Result result = result_of(std::move(decision.verdict));
    result.revision = state_.keys.revision();
    encode(result, step.scratch);
    step.output.answer(step.index, decision.request, step.scratch);
  }
  for (const coordination::ClaimTimer& timer : timers_) {
    const bool armed = timer.duration > Duration::zero();
    step.output.timer_ops.push_back({armed ? TimerOp::Kind::Arm : TimerOp::Kind::Disarm,
                                     wait_timer(timer.queued),
                                     Generation(timer.token.value()),
                                     timer.duration,
                                     {}});
  }
  for (coordination::Change& change : changes_) {
    if (!observed(change.kind, change.name)) continue;
    step.output.events.push_back({step.index, encode(Event(std::move(change)))});
  }
  decisions_.clear();
  timers_.clear();
  changes_.clear();
}

void MachineCoordination::observe(std::string_view subject, bool wanted) {
  if (wanted) {
    observed_.insert(std::string(subject));
  } else {
    observed_.erase(std::string(subject));
  }
  note_leaders();
}

void MachineCoordination::note_leaders() { state_.locks.note_leaders(!observed_.empty()); }

bool MachineCoordination::observed(coordination::Kind kind, std::string_view name) const {
  return !observed_.empty() && observed_.contains(subject_of(kind, name));
}

void MachineCoordination::leader_changed(const std::string& name) {
  if (observed(coordination::Kind::Lock, name)) led_.insert(name);
}

// An election is a lock with a value: its exclusive holder leads. There is one change per name and entry. So a leader that
// another one follows in the same entry leaves no vacancy between.
void MachineCoordination::announce_leaders(ApplyStep& step) {
  if (led_.empty()) return;
  for (const std::string& name : led_) {
    coordination::Change change{.kind = coordination::Kind::Lock, .what = coordination::Change::What::Deleted, .name = name};
    state_.locks.view().holders(name, [&](const lock::ClaimView& hold) {
      if (lock::mode_on(hold, name) != lock::Mode::Exclusive) return;
      change.what = coordination::Change::What::Set;
      change.number = static_cast<int64_t>(hold.token.value());
      change.member = hold.since;
      change.session = hold.session;
      change.owner = std::string(hold.tag);
      change.value = std::string(hold.texts.value);
    });
    step.output.events.push_back({step.index, encode(Event(std::move(change)))});
  }
  led_.clear();
}

void MachineCoordination::queued_results(std::span<const RequestId> requests, QueuedAnswers& answers) const {
  const coordination::Rows<coordination::Wait>& waits = state_.coordination.waits.rows();
  for (const RequestId& request : requests) {
    if (const std::optional<Index> wait = waits.requested(request)) {
      answers.waits(waits.at(*wait).session, request, *wait);
    } else if (auto grant = state_.coordination.granted(request)) {
      answers.granted(grant->session, request, result_of(std::move(grant->verdict)));
    }
  }
}

void MachineCoordination::timers(std::vector<TimerOp>& out) const {
  state_.coordination.timers(
      [&](Index wait, Duration timeout) {
        out.push_back({TimerOp::Kind::Arm, wait_timer(wait), Generation(0), timeout, {}});
      },
      [&](const coordination::ClaimTimer& claim) {
        out.push_back({TimerOp::Kind::Arm, wait_timer(claim.queued), Generation(claim.token.value()), claim.duration, {}});
      });
}

}  // namespace coordkit::machine
