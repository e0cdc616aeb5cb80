// Machine: who owns a session, how it changes hands, and how another client ends it (docs/semantics.md S-45, S-57).
//
// A session belongs to the process it is bound to. Once it is bound again, everything the previous process still sends is
// answered Lost, releases included: that process may wake from a pause and release a lock that the new one relies on. So is
// what a process sent before the session left it and came back.
#include <utility>

#include "base/check.h"
#include "machine/machine.h"

namespace coordkit::machine {
namespace {

// What an ending session may still do: release.
bool lets_go(const Request& request) {
  const auto* command = std::get_if<CoordinationCommand>(&request.body);
  if (command != nullptr) return lets_go(*command);
  return std::holds_alternative<CloseSession>(request.body) || std::holds_alternative<Release>(request.body) ||
         std::holds_alternative<CancelAcquire>(request.body);
}

// The data directory that had the session is open again, at a later boot: the directory lock proves that the previous process
// is gone. An equal boot is this very process, which trusts nothing of a session that it does not know.
bool succeeds(const TimerGroup& former, const Origin& origin) {
  return former.node == origin.replica && former.incarnation == origin.store.value() && former.boot <= origin.boot;
}

}  // namespace

TimerOp Machine::timer_of(SessionId id, const lease::Session& session) {
  const bool renewable = bool{session.group.node} && !session.ending;
  return {TimerOp::Kind::Arm, session_timer(id), session.generation, session.group.ttl,
          renewable ? session.group : TimerGroup{}};
}

// Ok if the request is well-formed and its session, if it names one, is live and belongs to the sender.
ResultCode Machine::admit(const absl::StatusOr<Request>& request, const RequestId& by) const {
  if (!request.ok()) return ResultCode::InvalidArgument;
  if (const ResultCode refusal = validate(*request); refusal != ResultCode::Ok) return refusal;
  const SessionId id = session_of(*request);
  if (!id) return ResultCode::Ok;
  const std::optional<lease::Session> session = state_.sessions.find(id);
  if (!session) return ResultCode::SessionNotFound;
  if (!session->owns(by)) return ResultCode::Lost;
  return session->ending && !lets_go(*request) ? ResultCode::Lost : ResultCode::Ok;
}

Machine::Answer Machine::execute(ResumeSession& resume, Step& step) {
  const std::optional<lease::Session> session = state_.sessions.find(resume.id);
  if (!session) return Result{.code = ResultCode::SessionNotFound};
  const bool known = session->secret && session->secret == lease::hash_of_secret(resume.secret);
  if (!known) return Result{.code = ResultCode::PermissionDenied};
  if (session->ending) return Result{.code = ResultCode::SessionNotFound};

  const Origin& origin = step.request.origin;
  // A process that took it over since is not the one the caller vouched for.
  const bool meant = resume.generation == session->generation;
  const bool gone = (resume.former_is_gone && meant) || (!session->contested && succeeds(session->group, origin));
  const TimerGroup group{origin.replica, origin.boot, origin.store.value(), session->group.ttl};
  state_.sessions.resume(resume.id, group, step.request.sequence, gone ? lease::Former::IsGone : lease::Former::MayLive);
  // A wait belongs to the process that asked; a grant to it would have no holder.
  state_.locks.end_waits(resume.id, step.decisions);
  end_coordinated_waits(resume.id, coordination::Waiter::MayReturn, step);
  // The previous process may wake at any time and present its tokens: they are worthless from here on.
  state_.locks.regrant_all(resume.id, step.index, state_.counter);
  regrant_coordinated(resume.id, step);
  step.output.timer_ops.push_back(timer_of(resume.id, *state_.sessions.find(resume.id)));
  step.output.events.push_back(
      {step.index, encode(Event(SessionResumed{resume.id, group.node, group.boot, group.incarnation}))});
  return Result{.session = resume.id, .ttl = group.ttl, .former_gone = gone};
}

Machine::Answer Machine::execute(KillSession& kill, Step& step) {
  if (!state_.sessions.contains(kill.victim)) return Result{.code = ResultCode::SessionNotFound};
  mark_ending(kill.victim, step);
  return Result{.session = kill.victim};
}

Machine::Answer Machine::execute(ForceRelease& force, Step& step) {
  SessionId holder;
  state_.locks.holders(force.name, [&](const lock::ClaimView& hold) {
    const bool local = hold.sticky() && lock::may_be_current(hold.block, force.token);
    if (local || hold.token == force.token) holder = hold.session;
  });
  if (!holder) return Result{.code = ResultCode::NotOwner};
  mark_ending(holder, step);
  return Result{.session = holder};
}

// S-57, first step. The timer leaves its group here, so that no renewal of the group moves it, and starts a full TTL now
// and again with every new leader; the second step is its expiry. Marking twice does not prolong it.
void Machine::mark_ending(SessionId id, Step& step) {
  if (state_.sessions.find(id)->ending) return;
  state_.sessions.mark_ending(id);
  state_.locks.end_waits(id, step.decisions);
  end_coordinated_waits(id, coordination::Waiter::IsGone, step);
  step.output.timer_ops.push_back(timer_of(id, *state_.sessions.find(id)));
  step.output.events.push_back({step.index, encode(Event(SessionEnding{id}))});
}

}  // namespace coordkit::machine
