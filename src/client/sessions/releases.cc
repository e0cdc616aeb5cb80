// Releases of holds, as commands of their sessions.
#include <utility>

#include "client/calls/answers.h"
#include "client/sessions/commands_in_order.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId SessionCommands::release(Session& session, const HoldRef& hold, DoneCallback&& done, CallDeadline deadline) {
  PendingRelease* release = give_back(session, hold);
  if (release == nullptr) {  // release_later() may have released it, not yet acknowledged
    session.releases.each([&](PendingRelease& each) {
      if (each.hold == hold) release = &each;
      return release == nullptr;
    });
  }
  if (release == nullptr) return calls_.refuse(std::move(done), released_or_lost(*hold));
  const CallId id = calls_.enter(std::move(done), OnAbandon::Persist, deadline, [](CallId, Now) {});
  if (Call* call = calls_.find(id)) call->submitted = true;  // nothing keeps it from being sent, not even its caller
  release->waiting.add(id);
  return id;
}

PendingRelease* SessionCommands::give_back(Session& session, const HoldRef& hold) {
  if (!table_.forget(session, hold)) return nullptr;
  PendingRelease& release = give_back(session, hold->name(), hold->token(), hold->counted());
  release.hold = hold;
  return &release;
}

PendingRelease& SessionCommands::give_back(Session& session, std::string&& name, Token token, bool counted) {
  const uint64_t number = counted ? ++session.make_extension().releases_counted[token] : 0;
  table_.releases_due().insert(session.id());
  return session.releases.add(std::move(name), {token, number});
}

void SessionCommands::give_back(Session& session, const HoldRef& hold, Token changed) {
  Waiters waiting;
  session.releases.each([&](PendingRelease& former) {
    if (former.hold != hold) return true;
    former.hold = nullptr;
    waiting = std::exchange(former.waiting, {});
    return false;
  });
  PendingRelease& release = give_back(session, hold->name(), changed, hold->counted());
  release.hold = hold;
  release.waiting = std::move(waiting);
}

// A release is never refused for lack of room, and never given up.
void SessionCommands::post_due() {
  posting_.assign(table_.releases_due().begin(), table_.releases_due().end());
  table_.releases_due().clear();
  for (const SessionId id : posting_) {
    Session* session = table_.find(id);
    if (session == nullptr || session->phase == SessionPhase::Lost || session->previous_trusts) continue;
    batch_.clear();
    session->releases.each([&](PendingRelease& release) {
      if (release.posted) return true;
      session->releases.set_posted(release, true);
      batch_.push_back(release.number);
      if (batch_.size() == machine::kPriorReleasesMax) {
        post(*session, batch_);
        batch_.clear();
      }
      return !session->releases.all_posted();
    });
    if (!batch_.empty()) post(*session, batch_);
  }
}

// The last release is the body of its command, those before it are its prior releases.
void SessionCommands::post(Session& session, std::span<const ReleaseNumber> batch) {
  const PendingRelease& last = *session.releases.find(batch.back());
  machine::Request request{
      .body = machine::Release{.session = session.id(), .name = last.name, .token = last.id.token, .number = last.id.number}};
  std::vector<ReleaseNumber> before(batch.begin(), batch.end() - 1);
  request.prior_releases.reserve(before.size());
  for (const ReleaseNumber each : before) {
    const PendingRelease& release = *session.releases.find(each);
    machine::PriorRelease& prior = request.prior_releases.emplace_back();
    prior.name = release.name;
    prior.token = release.id.token;
    prior.number = release.id.number;
  }
  PoolRef<Posted> posted = posted_.emplace(session.state, batch.back(), std::move(before));
  session.releases.set_last_command(submit(
      session, std::move(request), LaggingTime::max(), Urgency::Reserved,
      [this, posted = std::move(posted)](const Completion&, const Result& result, Now now) { released(*posted, result, now); },
      batch));
}

void SessionCommands::released(const Posted& posted, const Result& result, Now now) {
  Session* session = table_.find(posted.session);
  if (session == nullptr) return;
  if (result.ok()) {
    for (const ReleaseNumber each : posted.before) {
      if (was_executed(*result)) release_done(*session, each, absl::OkStatus());
    }
    if (result->code == machine::ResultCode::SessionNotFound) return;  // settle() reports that the session has ended
    release_done(*session, posted.last, status_of(*result, Nameless{"lock"}));
    return;
  }
  for (const ReleaseNumber each : posted.before) not_released(*session, each, result.status());
  not_released(*session, posted.last, result.status());
  if (requests_.halted()) return;
  requests_.retry(now, [this, id = posted.session->id()](Now) { table_.releases_due().insert(id); });
}

void SessionCommands::not_released(Session& session, ReleaseNumber number, const absl::Status& why) {
  PendingRelease* release = session.releases.find(number);
  if (release == nullptr) return;
  if (requests_.halted()) return release_done(session, number, why);
  session.releases.set_posted(*release, false);
  release->repeated = true;
}

}  // namespace coordkit::client
