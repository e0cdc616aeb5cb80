#include "machine/locks/machine_locks.h"

#include <array>
#include <span>
#include <utility>

namespace coordkit::machine {
namespace {

ResultCode code_of(lock::AcquireVerdict::Kind kind) {
  using VerdictKind = lock::AcquireVerdict::Kind;
  switch (kind) {
    case VerdictKind::Granted: return ResultCode::Granted;
    case VerdictKind::Held: return ResultCode::Held;
    case VerdictKind::Delayed: return ResultCode::Delayed;
    case VerdictKind::AlreadyHeld: return ResultCode::AlreadyHeld;
    case VerdictKind::AlreadyWaiting: return ResultCode::AlreadyWaiting;
    case VerdictKind::Deadlock: return ResultCode::Deadlock;
    case VerdictKind::TooDeep: return ResultCode::LimitExceeded;
    case VerdictKind::Queued: break;
  }
  return ResultCode::Queued;
}
void tell(const lock::AcquireVerdict& verdict, Result& result) {
  result.code = code_of(verdict.kind);
  if (verdict.kind == lock::AcquireVerdict::Kind::Queued) {
    result.position = verdict.position;
    return;
  }
  result.token = verdict.token;
  result.since = verdict.since;
  result.releases = verdict.releases;
}

Result answer_of(const lock::ModeVerdict& verdict) {
  using VerdictKind = lock::ModeVerdict::Kind;
  switch (verdict.kind) {
    case VerdictKind::Done: return {.code = ResultCode::Granted, .token = verdict.token, .since = verdict.since};
    case VerdictKind::NotOwner: return {.code = ResultCode::NotOwner};
    case VerdictKind::Impossible: return {.code = ResultCode::InvalidArgument};
    case VerdictKind::Conflict: return {.code = ResultCode::UpgradeConflict};
    case VerdictKind::Delayed: return {.code = ResultCode::Delayed};
    case VerdictKind::Deadlock: break;
  }
  return {.code = ResultCode::Deadlock};
}

std::array<lock::Wanted, 1> names_of(const Acquire& acquire) { return {{{acquire.name, acquire.mode}}}; }
std::vector<lock::Wanted> names_of(const AcquireAll& acquire) {
  std::vector<lock::Wanted> names;
  for (const NamedLock& wanted : acquire.locks) names.push_back({wanted.name, wanted.mode});
  return names;
}

uint64_t block_of(const Acquire& acquire) { return acquire.block; }
uint64_t block_of(const AcquireAll&) { return 0; }

lock::Attempt attempt_of(const auto& acquire, std::span<const lock::Wanted> names) {
  return {.session = acquire.session,
          .tag = acquire.owner_tag,
          .names = names,
          .texts = hold_texts<std::string_view>(acquire.texts),
          .waits = acquire.wait.kind != Wait::Kind::None,
          .timeout = acquire.wait.timeout,
          .delay = acquire.delay,
          .reentrant = (acquire.flags & kReentrant) != 0,
          .may_close_cycle = (acquire.flags & kNoDeadlockCheck) != 0,
          .block = block_of(acquire)};
}

lock::HoldKey key_of(const auto& command) {
  std::optional<std::string_view> tag;
  if (command.owner_tag) tag = *command.owner_tag;
  return {command.session, tag, command.name, command.token};
}

}  // namespace

// S-43: a release that was posted before this request takes effect before it, whichever arrives first. The release itself
// then finds no hold and answers NotOwner.
void MachineLocks::perform_prior_releases(const Request& request, ApplyStep& step) {
  if (request.prior_releases.empty()) return;
  const SessionId session = session_of(request);
  for (const PriorRelease& prior : request.prior_releases) {
    if (state_.locks.release({session, std::nullopt, prior.name, prior.token}, prior.number)) continue;
    coordination_.release(session, prior.name, prior.token, step);
  }
}

Answer MachineLocks::execute(Acquire& acquire, ApplyStep& step) {
  const auto names = names_of(acquire);
  return attempt(attempt_of(acquire, names), step);
}

Answer MachineLocks::execute(AcquireAll& acquire, ApplyStep& step) {
  const auto names = names_of(acquire);
  return attempt(attempt_of(acquire, names), step);
}

Answer MachineLocks::attempt(lock::Attempt&& attempt, ApplyStep& step) {
  attempt.index = step.index;
  attempt.request = step.request;
  const lock::AcquireVerdict verdict = state_.locks.acquire(attempt, state_.counter);
  Answer answer(std::in_place);  // returned without a move
  tell(verdict, *answer);
  if (verdict.kind != lock::AcquireVerdict::Kind::Queued) return answer;
  step.answer(*std::move(answer), ApplyOutput::Stage::Queued);
  if (attempt.timeout > Duration::zero()) {
    step.output.timer_ops.push_back({TimerOp::Kind::Arm, wait_timer(step.index), Generation(0), attempt.timeout, TimerGroup{}});
  }
  answer.reset();
  return answer;
}

// Tokens are unique over all kinds of holds, so this also gives back permits, an item or a place inside a barrier.
Answer MachineLocks::execute(Release& release, ApplyStep& step) {
  const bool released = state_.locks.release(key_of(release), release.number) ||
                        coordination_.release(release.session, release.name, release.token, step);
  return Result{.code = released ? ResultCode::Ok : ResultCode::NotOwner};
}

// The entry that comes first decides: the grant or the cancel.
Answer MachineLocks::execute(CancelAcquire& cancel, ApplyStep& step) {
  const lock::CancelVerdict verdict =
      state_.locks.cancel(cancel.session, cancel.owner_tag, cancel.name, cancel.acquire, step.decisions);
  switch (verdict.kind) {
    case lock::CancelVerdict::Kind::Granted:
      return Result{.code = ResultCode::Granted, .token = verdict.token, .since = verdict.since};
    case lock::CancelVerdict::Kind::Cancelled: return Result{.code = ResultCode::Cancelled};
    case lock::CancelVerdict::Kind::Absent: break;
  }
  if (Answer answer = coordination_.cancel(cancel.session, cancel.acquire, step)) return answer;
  const bool noted = state_.cancels.mark(cancel.acquire, step.request);
  return Result{.code = noted ? ResultCode::Cancelled : ResultCode::NotFound};
}

Answer MachineLocks::execute(Downgrade& downgrade, ApplyStep& step) {
  return answer_of(state_.locks.hold_changes().downgrade(key_of(downgrade), step.index, state_.counter));
}

Answer MachineLocks::execute(Upgrade& upgrade, ApplyStep& step) {
  return answer_of(state_.locks.hold_changes().upgrade(key_of(upgrade), step.index, state_.counter));
}

Answer MachineLocks::execute(UpdateValue& update, ApplyStep&) {
  const bool updated = state_.locks.hold_changes().update_value(key_of(update), update.value);
  return Result{.code = updated ? ResultCode::Ok : ResultCode::NotOwner};
}

Answer MachineLocks::execute(ClearDelay& clear, ApplyStep& step) {
  const bool cleared = state_.locks.clear_delay(clear.name, step.decisions);
  return Result{.code = cleared ? ResultCode::Ok : ResultCode::NotFound};
}

Answer MachineLocks::execute(RefillBlock& refill, ApplyStep&) {
  const std::optional<Token> first =
      state_.locks.delegations().refill({refill.session, std::nullopt, refill.name, refill.token}, state_.counter);
  return first ? Result{.code = ResultCode::Granted, .token = *first} : Result{.code = ResultCode::NotOwner};
}

namespace {

// S-36: a try that would be refused needs no entry, unless it is the first request for a delegation (S-58).
template <typename Body>
std::optional<Result> refusal_of_try(const State& state, const Body& acquire) {
  const auto names = names_of(acquire);
  const lock::Attempt attempt = attempt_of(acquire, names);
  const auto refusal = state.locks.refusal(attempt);
  if (!refusal || state.locks.view().would_ask(attempt)) return std::nullopt;
  Result result;
  tell(*refusal, result);
  result.revision = state.keys.revision();
  return result;
}

}  // namespace

std::optional<Result> refusal_of(const State& state, const Acquire& acquire) { return refusal_of_try(state, acquire); }
std::optional<Result> refusal_of(const State& state, const AcquireAll& acquire) { return refusal_of_try(state, acquire); }

void MachineLocks::queued_results(std::span<const RequestId> requests, QueuedAnswers& answers) const {
  state_.locks.view().requested(requests, [&answers](const lock::ClaimView& claim) {
    if (!claim.held()) return answers.waits(claim.session, claim.request, claim.since);
    answers.granted(claim.session, claim.request, {.code = ResultCode::Granted, .token = claim.token, .since = claim.since});
  });
}

}  // namespace coordkit::machine
