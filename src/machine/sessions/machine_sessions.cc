#include "machine/sessions/machine_sessions.h"

#include <utility>

#include "base/check.h"

namespace coordkit::machine {
namespace {

// The requests that an ending session may still send: those that give something up.
bool is_release(const Request& request) {
  const auto* command = std::get_if<CoordinationCommand>(&request.body);
  if (command != nullptr) return is_release(*command);
  return std::holds_alternative<CloseSession>(request.body) || std::holds_alternative<Release>(request.body) ||
         std::holds_alternative<CancelAcquire>(request.body);
}

// The data directory that had the session is open again, at a later boot: the directory lock proves that the previous process
// is gone. An equal boot is this very process, which trusts nothing about a session that it does not know.
bool succeeds(const TimerGroup& previous, const Origin& origin) {
  return previous.node == origin.replica && previous.incarnation == origin.store.value() && previous.boot <= origin.boot;
}

}  // namespace

ResultCode MachineSessions::admit(const Request& request, const RequestId& by) const {
  const auto [objection, id] = validated(request);
  if (!objection.none()) return objection.code;
  if (!id) return ResultCode::Ok;
  switch (state_.sessions.standing(id, by)) {
    case lease::Standing::Unknown: return ResultCode::SessionNotFound;
    case lease::Standing::OfAnother: return ResultCode::Lost;
    case lease::Standing::Ending: return is_release(request) ? ResultCode::Ok : ResultCode::Lost;
    case lease::Standing::Alive: break;
  }
  return ResultCode::Ok;
}

Answer MachineSessions::execute(OpenSession& open, ApplyStep& step) {
  SessionId id(state_.counter.next());
  while (state_.leases.named(LeaseId(id.value()))) id = SessionId(state_.counter.next());  // keys may be attached to either
  const Duration ttl = lease::granted_ttl(open.ttl);
  const TimerGroup group{open.node, open.boot, open.incarnation, ttl};
  const lease::Session session{group, Generation(0), std::move(open.metadata), open.secret};
  step.output.timer_ops.push_back(timer_of(id, session));
  state_.sessions.open(id, session);
  return Result{.session = id, .ttl = ttl};
}

Answer MachineSessions::execute(CloseSession& close, ApplyStep& step) {
  end(close.session, SessionEnded::Reason::Closed, step);
  return Result{};
}

Answer MachineSessions::execute(ResumeSession& resume, ApplyStep& step) {
  const std::optional<lease::Session> session = state_.sessions.find(resume.id);
  if (!session) return Result{.code = ResultCode::SessionNotFound};
  const bool known = session->secret && session->secret == lease::hash_of_secret(resume.secret);
  if (!known) return Result{.code = ResultCode::PermissionDenied};
  if (session->ending) return Result{.code = ResultCode::SessionNotFound};

  const Origin& origin = step.request.origin;
  // The caller did not vouch for a process that took the session over since.
  const bool meant = resume.generation == session->generation;
  const bool gone = (resume.previous_is_gone && meant) || (!session->contested && succeeds(session->group, origin));
  const TimerGroup group{origin.replica, origin.boot, origin.store.value(), session->group.ttl};
  state_.sessions.resume(resume.id, group, step.request.sequence,
                         gone ? lease::PreviousProcess::IsGone : lease::PreviousProcess::MayLive);
  // A wait belongs to the process that asked; a grant to it would have no holder.
  state_.locks.end_waits(resume.id, step.decisions);
  coordination_.end_waits(resume.id, coordination::Waiter::MayReturn, step);
  // The previous process may wake at any time and show its tokens: they are worth nothing from here on.
  state_.locks.hold_changes().regrant_all(resume.id, step.index, state_.counter);
  coordination_.regrant(resume.id, step);
  step.output.timer_ops.push_back(timer_of(resume.id, *state_.sessions.find(resume.id)));
  step.output.events.push_back(
      {step.index, encode(Event(SessionResumed{resume.id, group.node, group.boot, group.incarnation, session->group.node}))});
  return Result{.session = resume.id, .ttl = group.ttl, .previous_gone = gone};
}

Answer MachineSessions::execute(KillSession& kill, ApplyStep& step) {
  if (!state_.sessions.contains(kill.victim)) return Result{.code = ResultCode::SessionNotFound};
  mark_ending(kill.victim, step);
  return Result{.session = kill.victim};
}

Answer MachineSessions::execute(ForceRelease& force, ApplyStep& step) {
  SessionId holder;
  state_.locks.view().holders(force.name, [&](const lock::ClaimView& hold) {
    const bool local = hold.sticky() && lock::may_be_current(hold.block, force.token);
    if (local || hold.token == force.token) holder = hold.session;
  });
  if (!holder) return Result{.code = ResultCode::NotOwner};
  mark_ending(holder, step);
  return Result{.session = holder};
}

void MachineSessions::end(SessionId id, SessionEnded::Reason reason, ApplyStep& step) {
  const std::optional<lease::Session> session = state_.sessions.find(id);
  COORDKIT_CHECK_MSG(session.has_value(), "INV_L07");
  step.output.timer_ops.push_back({TimerOp::Kind::Disarm, session_timer(id), session->generation, {}, {}});
  state_.sessions.close(id);
  const bool closed = reason == SessionEnded::Reason::Closed;
  const auto ending = closed ? lock::Table::Ending::Closed : lock::Table::Ending::Expired;
  state_.locks.end(id, ending, state_.counter, step.decisions);
  coordination_.end(id, step);
  keys_.end_attached(LeaseId(id.value()));
  step.output.events.push_back({step.index, encode(Event(SessionEnded{id, reason, session->group.node}))});
}

// S-57, first step. The timer leaves its group, so that no renewal of the group moves it. It starts a full TTL now and again
// with every new leader. The second step is its expiry. A second mark does not prolong it.
void MachineSessions::mark_ending(SessionId id, ApplyStep& step) {
  const lease::Session session = *state_.sessions.find(id);
  if (session.ending) return;
  state_.sessions.mark_ending(id);
  state_.locks.end_waits(id, step.decisions);
  coordination_.end_waits(id, coordination::Waiter::IsGone, step);
  step.output.timer_ops.push_back(timer_of(id, *state_.sessions.find(id)));
  step.output.events.push_back({step.index, encode(Event(SessionEnding{id, session.group.node}))});
}

}  // namespace coordkit::machine
