// Releases: the hold is invalid from the call on; its end in the log is pursued until acknowledged or the session is over,
// so that a lock cannot leak while renewals go on (docs/time.md T10; docs/semantics.md S-43).
#include <algorithm>

#include "base/mutant.h"
#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {

CallId Client::Impl::release(const HoldRef& hold, DoneCallback done, CallDeadline deadline) {
  if (hold == nullptr)
    return refuse(std::move(done),
                  make_error(Reason::InvalidArgument, "no grant was given; pass the one that acquire() answered"));
  if (!mutant(Mutant::ReleasedWhileValid)) hold->invalidate();  // T8: before anything is sent
  Session* session = same_life(hold->session());
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    return refuse(std::move(done), make_error(Reason::Lost, "the session ended before, and the hold with it; open a new one"));
  }
  if (hold->delegation()) {
    return refuse(std::move(done), release_locally(*session, hold)
                                       ? absl::OkStatus()
                                       : make_error(Reason::NotOwner, "the grant was released or lost before; acquire anew"));
  }
  give_back(*session, hold);
  client::PendingRelease* release = pending(*session, hold);
  if (release == nullptr) {
    return refuse(std::move(done), make_error(Reason::NotOwner, "the grant was released before; there is nothing left to do"));
  }
  const CallId id = enter(std::move(done), Fate::Persist, deadline, options_.call_timeout, [](CallId, Now) {});
  if (Call* call = find(id)) call->submitted = true;  // nothing keeps it from being sent, not even its caller
  release->waiting.push_back(id);
  return id;
}

void Client::Impl::release_later(const HoldRef& hold) {
  if (hold == nullptr) return;
  hold->invalidate();
  Session* session = same_life(hold->session());
  if (session == nullptr || session->phase == SessionPhase::Lost) return;
  if (hold->delegation()) {
    release_locally(*session, hold);
  } else {
    give_back(*session, hold);
  }
}

void Client::Impl::give_back(Session& session, const HoldRef& hold) {
  if (!client::SessionTable::holds(session, hold)) return;
  unlimit_hold(hold);
  sessions_.forget(session, hold);
  give_back(session, hold->name(), hold->token(), hold->terms().counted);
  session.releases.back().hold = hold;
}

// Of a grant that nobody got to know, or on behalf of its handle.
void Client::Impl::give_back(Session& session, std::string name, Token token, bool counted) {
  const uint64_t number = counted ? ++session.releases_counted[token] : 0;
  session.releases.push_back({.name = std::move(name), .id = {token, number}});
  releasing_.insert(session.id());
}

client::PendingRelease* Client::Impl::pending(Session& session, const client::ReleaseId& id) {
  for (client::PendingRelease& release : session.releases) {
    if (release.id == id) return &release;
  }
  return nullptr;
}

client::PendingRelease* Client::Impl::pending(Session& session, const HoldRef& hold) {
  for (client::PendingRelease& release : session.releases) {
    if (release.hold == hold) return &release;
  }
  return nullptr;
}

// All that a session gives back in one turn goes in one command: the last one is its body, the others are its prior
// releases. Never refused for lack of room, never given up.
void Client::Impl::post_releases() {
  for (const SessionId id : std::exchange(releasing_, {})) {
    Session* session = sessions_.find(id);
    if (session == nullptr || session->phase == SessionPhase::Lost || session->settling) continue;
    std::vector<client::ReleaseId> batch;
    for (client::PendingRelease& release : session->releases) {
      if (release.posted) continue;
      release.posted = true;
      batch.push_back(release.id);
      if (batch.size() == machine::kPriorReleasesMax) release_batch(*session, std::exchange(batch, {}));
    }
    if (!batch.empty()) release_batch(*session, std::move(batch));
  }
}

void Client::Impl::release_batch(Session& session, std::vector<client::ReleaseId> batch) {
  const client::PendingRelease& last = *pending(session, batch.back());
  machine::Release body{.session = session.id(), .name = last.name, .token = last.id.token, .number = last.id.number};
  submit_for(session, {.body = std::move(body)}, LaggingTime::max(), Urgency::Reserved,
             [this, state = session.state, batch = std::move(batch)](const Completion& completion, Now now) {
               release_answered(state, batch, completion, now);
             });
}

void Client::Impl::release_answered(const SessionRef& state, const std::vector<client::ReleaseId>& batch,
                                    const Completion& completion, Now now) {
  Session* session = same_life(state);
  if (session == nullptr) return;
  const auto result = client::result_of(completion);
  if (result.ok()) {
    if (result->code == machine::ResultCode::SessionNotFound) return;  // the caller of this declares it ended
    release_done(*session, batch.back(), client::status_of(*result, client::Nameless{"lock"}));
    return;
  }
  for (const client::ReleaseId& each : batch) {
    client::PendingRelease* release = pending(*session, each);
    if (release == nullptr) continue;
    if (halted_) {
      release_done(*session, each, result.status());
    } else {
      release->posted = false;
      release->repeated = true;
    }
  }
  if (halted_) return;
  run_later(retry_time(now), [this, id = state->id()](Now) { releasing_.insert(id); });
}

// NotOwner means done if another command may have performed it before.
void Client::Impl::release_done(Session& session, const client::ReleaseId& id, const absl::Status& status) {
  const auto found = std::find_if(session.releases.begin(), session.releases.end(),
                                  [&id](const client::PendingRelease& release) { return release.id == id; });
  if (found == session.releases.end()) return;
  const bool done = status.ok() || (found->repeated && reason_of(status) == Reason::NotOwner);
  const std::vector<CallId> waiting = std::move(found->waiting);
  session.releases.erase(found);
  const auto same = [&id](const client::PendingRelease& release) { return release.id.token == id.token; };
  if (id.number != 0 && !session.holds.contains(id.token) && std::ranges::none_of(session.releases, same)) {
    session.releases_counted.erase(id.token);
  }
  for (const CallId call : waiting) answer_done(call, done ? absl::OkStatus() : status);
}

}  // namespace coordkit
