// The model of sessions that change hands or are ended by another client (docs/semantics.md S-45, S-57).
#include "sim/is_any.h"
#include "sim/model.h"

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

namespace {

bool lets_go(const machine::Request::Body& body) {
  const auto* command = std::get_if<machine::CoordinationCommand>(&body);
  if (command) return is_any<machine::AcknowledgeItem, machine::LeaveBarrier, machine::LeaveGroup>(*command);
  return is_any<machine::CloseSession, machine::Release, machine::CancelAcquire>(body);
}

}  // namespace

// Whether a request of this session is answered Lost: it belongs to another process now, or is ending and this is no release.
bool Model::lost_to_sender(const machine::Request& request, SessionId id, const RequestId& by) const {
  const Session& session = sessions_.at(id);
  const Origin bound{session.node, StoreId(session.incarnation), session.boot};
  return bound != by.origin || by.sequence <= session.resumed_by || (session.ending && !lets_go(request.body));
}

Result Model::run(const machine::ResumeSession& resume, const RequestId& id) {
  const auto found = sessions_.find(resume.id);
  if (found == sessions_.end()) return {.code = ResultCode::SessionNotFound};
  Session& session = found->second;
  if (!session.secret || session.secret != lease::hash_of_secret(resume.secret)) return {.code = ResultCode::PermissionDenied};
  if (session.ending) return {.code = ResultCode::SessionNotFound};
  const Origin& to = id.origin;
  const bool same_disk = session.node == to.replica && session.incarnation == to.store.value() && session.boot <= to.boot;
  const bool vouched = resume.previous_is_gone && resume.generation == session.generation;
  const bool gone = vouched || (same_disk && !session.contested);
  session.contested = !gone;
  session.node = to.replica;
  session.boot = to.boot;
  session.incarnation = to.store.value();
  session.generation = session.generation.next();
  session.resumed_by = id.sequence;
  session.resumed = applied_;
  end_waits(resume.id, CoordinationModel::Waiter::MayReturn);
  locks_.regrant_all(resume.id, applied_);
  coordination_.regrant_all(resume.id, applied_);
  session.held_then = locks_.tokens_of(resume.id);
  return {.code = ResultCode::Ok, .session = resume.id, .ttl = session.ttl, .previous_gone = gone};
}

Result Model::run(const machine::KillSession& kill) {
  if (!sessions_.contains(kill.victim)) return {.code = ResultCode::SessionNotFound};
  mark_ending(kill.victim);
  return {.code = ResultCode::Ok, .session = kill.victim};
}

Result Model::run(const machine::ForceRelease& force) {
  const LockModel::Claim* hold = locks_.hold(force.name, force.token);
  if (hold == nullptr || (hold->token != force.token && !locks_.current(force.name, force.token)))
    return {.code = ResultCode::NotOwner};
  const SessionId holder = hold->session;
  mark_ending(holder);
  return {.code = ResultCode::Ok, .session = holder};
}

void Model::mark_ending(SessionId id) {
  Session& session = sessions_.at(id);
  if (session.ending) return;
  session.ending = applied_;
  end_waits(id, CoordinationModel::Waiter::IsGone);
}

void Model::end_waits(SessionId id, CoordinationModel::Waiter waiter) {
  locks_.end_waits(id, waits_ended_);
  coordination_.end_waits(id, waiter, waits_ended_);
}

}  // namespace coordkit::sim
