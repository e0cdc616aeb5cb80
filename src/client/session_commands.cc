#include "client/session_commands.h"

#include <algorithm>
#include <span>
#include <utility>

#include "client/answers.h"

namespace coordkit::client {

// Releases already named by the request are not named twice.
void SessionCommands::carry(Session& session, machine::Request& request, std::vector<ReleaseId>& named) {
  if (session.previous_trusts) return;  // S-45: none of it may take effect yet
  const auto* release = std::get_if<machine::Release>(&request.body);
  const bool ordered = requests_.feature_level() >= kOrderedLevel;
  if (ordered && session.releases.all_posted()) return;
  const size_t before = named.size();
  session.releases.each([&](PendingRelease& pending) {
    if (ordered && pending.posted) return true;
    if (release != nullptr && ReleaseId{release->token, release->number} == pending.id) return true;
    const std::span earlier(named.data(), before);
    if (std::ranges::find(earlier, pending.id) != earlier.end()) return true;
    if (request.prior_releases.size() == machine::kPriorReleasesMax) return false;
    pending.repeated = true;
    named.push_back(pending.id);
    request.prior_releases.push_back({pending.name, pending.id.token, pending.id.number});
    return true;
  });
}

Ticket SessionCommands::submit(Session& session, machine::Request&& request, LaggingTime deadline, Urgency urgency,
                               OnResult&& on_result, std::vector<ReleaseId> named) {
  carry(session, request, named);
  const Ticket after = requests_.feature_level() >= kOrderedLevel ? session.last_release : Ticket();
  PoolRef<Posted> posted = posted_.make({session.state, std::move(named), std::move(on_result)});
  return requests_.submit(
      request, deadline, urgency,
      [this, posted = std::move(posted)](const Completion& completion, Now now) { completed(*posted, completion, now); },
      after);
}

void SessionCommands::completed(Posted& posted, const Completion& completion, Now now) {
  const Result result = result_of(completion);
  SessionTable& table = sessions_.table();
  Session* owner = table.find(posted.session);
  if (owner != nullptr && owner->last_release == completion.ticket) owner->last_release = {};
  if (owner != nullptr && result.ok() && was_executed(*result)) {
    for (const ReleaseId& id : posted.named) release_done(*owner, id, absl::OkStatus());
  }
  posted.on_result(completion, result, now);
  Session* left = table.find(posted.session);
  if (left == nullptr || !result.ok()) return;
  if (result->code == machine::ResultCode::SessionNotFound) sessions_.ended(posted.session->id());
  if (result->code == machine::ResultCode::Lost) sessions_.check_lost(*left);
}

void SessionCommands::release_done(Session& session, const ReleaseId& id, const absl::Status& status) {
  PendingRelease* found = session.releases.find(id);
  if (found == nullptr) return;
  const bool done = status.ok() || (found->repeated && reason_of(status) == Reason::NotOwner);
  const auto waiting = std::move(found->waiting);
  session.releases.erase(id);
  const auto same = [&id](const PendingRelease& release) { return release.id.token == id.token; };
  if (id.number != 0 && !session.holds.contains(id.token) && !session.releases.any(same)) {
    session.releases_counted.erase(id.token);
  }
  waiting.each([&](CallId call) { calls_.answer_done(call, done ? absl::OkStatus() : status); });
}

}  // namespace coordkit::client
