#include "client/releases.h"

#include <algorithm>
#include <utility>

#include "client/answers.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId Releases::release(Session& session, const HoldRef& hold, DoneCallback done, CallDeadline deadline) {
  give_back(session, hold);
  const auto release = std::ranges::find(session.releases, hold, &PendingRelease::hold);
  if (release == session.releases.end()) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::NotOwner, "the grant was released before; there is nothing left to do"));
  }
  const CallId id = calls_.enter(std::move(done), OnAbandon::Persist, deadline, [](CallId, Now) {});
  if (Call* call = calls_.find(id)) call->submitted = true;  // nothing keeps it from being sent, not even its caller
  release->waiting.push_back(id);
  return id;
}

void Releases::give_back(Session& session, const HoldRef& hold) {
  if (!SessionTable::holds(session, hold)) return;
  limits_.remove(hold);
  table_.forget(session, hold);
  give_back(session, hold->name(), hold->token(), hold->terms().counted);
  session.releases.back().hold = hold;
}

void Releases::give_back(Session& session, std::string name, Token token, bool counted) {
  const uint64_t number = counted ? ++session.releases_counted[token] : 0;
  session.releases.push_back({.name = std::move(name), .id = {token, number}});
  due_.insert(session.id());
}

void Releases::former_over(const Session& session) {
  const auto waits = [](const PendingRelease& release) { return !release.posted; };
  if (std::ranges::any_of(session.releases, waits)) due_.insert(session.id());
}

// The last one is the body of its command, the others are its prior releases. Never refused for lack of room, never given up.
void Releases::post_due() {
  for (const SessionId id : std::exchange(due_, {})) {
    Session* session = table_.find(id);
    if (session == nullptr || session->phase == SessionPhase::Lost || session->former_trusts) continue;
    std::vector<ReleaseId> batch;
    for (PendingRelease& release : session->releases) {
      if (release.posted) continue;
      release.posted = true;
      batch.push_back(release.id);
      if (batch.size() == machine::kPriorReleasesMax) post(*session, std::exchange(batch, {}));
    }
    if (!batch.empty()) post(*session, std::move(batch));
  }
}

void Releases::post(Session& session, std::vector<ReleaseId> batch) {
  const PendingRelease& last = *std::ranges::find(session.releases, batch.back(), &PendingRelease::id);
  machine::Release body{.session = session.id(), .name = last.name, .token = last.id.token, .number = last.id.number};
  commands_.submit(session, {.body = std::move(body)}, LaggingTime::max(), Urgency::Reserved,
                   [this, state = session.state, batch = std::move(batch)](const Completion& completion, Now now) {
                     answered(state, batch, completion, now);
                   });
}

void Releases::answered(const SessionRef& state, const std::vector<ReleaseId>& batch, const Completion& completion, Now now) {
  Session* session = table_.find(state);
  if (session == nullptr) return;
  const auto result = result_of(completion);
  if (result.ok()) {
    if (result->code == machine::ResultCode::SessionNotFound) return;  // SessionCommands says that it has ended
    commands_.release_done(*session, batch.back(), status_of(*result, Nameless{"lock"}));
    return;
  }
  for (const ReleaseId& each : batch) {
    const auto release = std::ranges::find(session->releases, each, &PendingRelease::id);
    if (release == session->releases.end()) continue;
    if (requests_.halted()) {
      commands_.release_done(*session, each, result.status());
    } else {
      release->posted = false;
      release->repeated = true;
    }
  }
  if (requests_.halted()) return;
  requests_.retry(now, [this, id = state->id()](Now) { due_.insert(id); });
}

}  // namespace coordkit::client
