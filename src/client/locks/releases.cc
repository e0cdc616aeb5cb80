#include "client/locks/releases.h"

#include <utility>

#include "client/calls/answers.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId Releases::release(Session& session, const HoldRef& hold, DoneCallback&& done, CallDeadline deadline) {
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

PendingRelease* Releases::give_back(Session& session, const HoldRef& hold) {
  if (!table_.forget(session, hold)) return nullptr;
  limits_.remove(hold);
  PendingRelease& release = give_back(session, hold->name(), hold->token(), hold->counted());
  release.hold = hold;
  return &release;
}

PendingRelease& Releases::give_back(Session& session, std::string&& name, Token token, bool counted) {
  const uint64_t number = counted ? ++session.make_extension().releases_counted[token] : 0;
  due_.insert(session.id());
  return session.releases.add(std::move(name), {token, number});
}

void Releases::give_back(Session& session, const HoldRef& hold, Token changed) {
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

void Releases::previous_over(Session& session) {
  if (!session.releases.all_posted()) due_.insert(session.id());
}

// A release is never refused for lack of room, and never given up.
void Releases::post_due() {
  posting_.assign(due_.begin(), due_.end());
  due_.clear();
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
void Releases::post(Session& session, std::span<const ReleaseNumber> batch) {
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
  session.releases.set_last_command(commands_.submit(
      session, std::move(request), LaggingTime::max(), Urgency::Reserved,
      [this, posted = std::move(posted)](const Completion&, const SessionCommands::Result& result, Now now) {
        answered(*posted, result, now);
      },
      batch));
}

void Releases::answered(const Posted& posted, const SessionCommands::Result& result, Now now) {
  Session* session = table_.find(posted.session);
  if (session == nullptr) return;
  if (result.ok()) {
    for (const ReleaseNumber each : posted.before) {
      if (was_executed(*result)) commands_.release_done(*session, each, absl::OkStatus());
    }
    if (result->code == machine::ResultCode::SessionNotFound) return;  // SessionCommands reports that the session has ended
    commands_.release_done(*session, posted.last, status_of(*result, Nameless{"lock"}));
    return;
  }
  for (const ReleaseNumber each : posted.before) not_released(*session, each, result.status());
  not_released(*session, posted.last, result.status());
  if (requests_.halted()) return;
  requests_.retry(now, [this, id = posted.session->id()](Now) { due_.insert(id); });
}

void Releases::not_released(Session& session, ReleaseNumber number, const absl::Status& why) {
  PendingRelease* release = session.releases.find(number);
  if (release == nullptr) return;
  if (requests_.halted()) return commands_.release_done(session, number, why);
  session.releases.set_posted(*release, false);
  release->repeated = true;
}

}  // namespace coordkit::client
