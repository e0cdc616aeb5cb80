#include "client/releases.h"

#include <algorithm>
#include <utility>

#include "client/answers.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId Releases::release(Session& session, const HoldRef& hold, DoneCallback done, CallDeadline deadline) {
  PendingRelease* release = give_back(session, hold);
  if (release == nullptr) {  // possibly by release_later(), and not acknowledged yet
    session.releases.each([&](PendingRelease& each) {
      if (each.hold == hold) release = &each;
      return release == nullptr;
    });
  }
  if (release == nullptr) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::NotOwner, "the grant was released before; there is nothing left to do"));
  }
  const CallId id = calls_.enter(std::move(done), OnAbandon::Persist, deadline, [](CallId, Now) {});
  if (Call* call = calls_.find(id)) call->submitted = true;  // nothing prevents it from being sent, not even its caller
  release->waiting.push_back(id);
  return id;
}

PendingRelease* Releases::give_back(Session& session, const HoldRef& hold) {
  if (!SessionTable::holds(session, hold)) return nullptr;
  limits_.remove(hold);
  table_.forget(session, hold);
  PendingRelease& release = give_back(session, hold->name(), hold->token(), hold->terms().counted);
  release.hold = hold;
  return &release;
}

PendingRelease& Releases::give_back(Session& session, std::string name, Token token, bool counted) {
  const uint64_t number = counted ? ++session.releases_counted[token] : 0;
  due_.insert(session.id());
  return session.releases.add(std::move(name), {token, number});
}

void Releases::former_over(Session& session) {
  if (!session.releases.all_posted()) due_.insert(session.id());
}

// Never refused for lack of room, never given up.
void Releases::post_due() {
  for (const SessionId id : std::exchange(due_, {})) {
    Session* session = table_.find(id);
    if (session == nullptr || session->phase == SessionPhase::Lost || session->former_trusts) continue;
    std::vector<ReleaseId> batch;
    session->releases.each([&](PendingRelease& release) {
      if (release.posted) return true;
      session->releases.set_posted(release, true);
      batch.push_back(release.id);
      if (batch.size() == machine::kPriorReleasesMax) post(*session, std::exchange(batch, {}));
      return !session->releases.all_posted();
    });
    if (!batch.empty()) post(*session, std::move(batch));
  }
}

// The last one is the body of its command, the others are its prior releases.
void Releases::post(Session& session, std::vector<ReleaseId> batch) {
  const PendingRelease& last = *session.releases.find(batch.back());
  machine::Request request{
      .body = machine::Release{.session = session.id(), .name = last.name, .token = last.id.token, .number = last.id.number}};
  std::vector<ReleaseId> named(batch.begin(), batch.end() - 1);
  for (const ReleaseId& id : named) {
    request.prior_releases.push_back({session.releases.find(id)->name, id.token, id.number});
  }
  session.last_release = commands_.submit(
      session, std::move(request), LaggingTime::max(), Urgency::Reserved,
      [this, posted = posted_.make({session.state, std::move(batch)})](const Completion& completion, Now now) {
        answered(posted->session, posted->batch, completion, now);
      },
      std::move(named));
}

void Releases::answered(const SessionRef& state, const std::vector<ReleaseId>& batch, const Completion& completion, Now now) {
  Session* session = table_.find(state);
  if (session == nullptr) return;
  const auto result = result_of(completion);
  if (result.ok()) {
    if (result->code == machine::ResultCode::SessionNotFound) return;  // SessionCommands reports its end
    commands_.release_done(*session, batch.back(), status_of(*result, Nameless{"lock"}));
    return;
  }
  for (const ReleaseId& each : batch) {
    PendingRelease* release = session->releases.find(each);
    if (release == nullptr) continue;
    if (requests_.halted()) {
      commands_.release_done(*session, each, result.status());
    } else {
      session->releases.set_posted(*release, false);
      release->repeated = true;
    }
  }
  if (requests_.halted()) return;
  requests_.retry(now, [this, id = state->id()](Now) { due_.insert(id); });
}

}  // namespace coordkit::client
