#include "sim/sessions/session_model.h"

#include <algorithm>
#include <utility>

#include "sim/world/is_any.h"

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

namespace {

bool is_release(const machine::Request::Body& body) {
  const auto* command = std::get_if<machine::CoordinationCommand>(&body);
  if (command) return is_any<machine::AcknowledgeItem, machine::LeaveBarrier, machine::LeaveGroup>(*command);
  return is_any<machine::CloseSession, machine::Release, machine::CancelAcquire>(body);
}

}  // namespace

Result SessionModel::run(const machine::OpenSession& open, Index index) {
  const SessionId id(++counter_);
  const Duration ttl = std::max(open.ttl, machine::kTtlMin);
  sessions_[id] = {ttl, open.node, open.boot, open.incarnation, index, open.metadata, open.secret, {}};
  lives_.push_back({id, index, Index{}});
  return {.code = ResultCode::Ok, .session = id, .ttl = ttl};
}

bool SessionModel::lost_to_sender(const machine::Request& request, SessionId id, const RequestId& by) const {
  const Session& session = sessions_.at(id);
  const Origin bound{session.node, StoreId(session.incarnation), session.boot};
  return bound != by.origin || by.sequence <= session.resumed_by || (session.ending && !is_release(request.body));
}

Result SessionModel::resume(const machine::ResumeSession& resume, const RequestId& id, Index index) {
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
  session.resumed = index;
  resumed_.insert(resume.id);
  return {.code = ResultCode::Ok, .session = resume.id, .ttl = session.ttl, .previous_gone = gone};
}

bool SessionModel::mark_ending(SessionId id, Index index) {
  Session& session = sessions_.at(id);
  if (session.ending) return false;
  session.ending = index;
  return true;
}

void SessionModel::end(SessionId id, Index index, bool expired) {
  sessions_.erase(id);
  expiries_ += expired ? 1 : 0;
  for (Life& life : lives_) {
    if (life.id == id) life.until = index;
  }
}

const SessionModel::Session* SessionModel::find(SessionId id) const {
  const auto it = sessions_.find(id);
  return it == sessions_.end() ? nullptr : &it->second;
}

bool SessionModel::due(SessionId id, Generation generation) const {
  const Session* session = find(id);
  return session != nullptr && session->generation == generation;
}

std::vector<SessionId> SessionModel::alive_at(Index at) const {
  std::vector<SessionId> ids;
  for (const Life& life : lives_) {
    if (life.from <= at && (!life.until || life.until > at)) ids.push_back(life.id);
  }
  return ids;
}

}  // namespace coordkit::sim
