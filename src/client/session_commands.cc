#include "client/session_commands.h"

#include <algorithm>
#include <utility>

#include "client/answers.h"

namespace coordkit::client {

// A release names itself in its body.
std::vector<ReleaseId> SessionCommands::carry(Session& session, machine::Request& request) {
  const auto* release = std::get_if<machine::Release>(&request.body);
  std::vector<ReleaseId> carried;
  for (PendingRelease& pending : session.releases) {
    if (session.former_trusts) break;  // S-45: none of it may take effect yet
    if (release != nullptr && ReleaseId{release->token, release->number} == pending.id) continue;
    if (carried.size() == machine::kPriorReleasesMax) break;
    pending.repeated = true;
    carried.push_back(pending.id);
    request.prior_releases.push_back({pending.name, pending.id.token, pending.id.number});
  }
  return carried;
}

Ticket SessionCommands::submit(Session& session, machine::Request request, LaggingTime deadline, Urgency urgency,
                               Requests::OnCompletion on_completion) {
  std::vector<ReleaseId> carried = carry(session, request);
  return requests_.submit(request, deadline, urgency,
                          [this, state = session.state, carried = std::move(carried), on_completion = std::move(on_completion)](
                              const Completion& completion, Now now) mutable {
                            const auto result = result_of(completion);
                            SessionTable& table = sessions_.table();
                            Session* owner = table.find(state);
                            if (owner != nullptr && result.ok() && was_executed(*result)) {
                              for (const ReleaseId& id : carried) release_done(*owner, id, absl::OkStatus());
                            }
                            on_completion(completion, now);
                            Session* left = table.find(state);
                            if (left == nullptr || !result.ok()) return;
                            if (result->code == machine::ResultCode::SessionNotFound) sessions_.ended(state->id());
                            if (result->code == machine::ResultCode::Lost) sessions_.check_lost(*left);
                          });
}

void SessionCommands::release_done(Session& session, const ReleaseId& id, const absl::Status& status) {
  const auto found = std::ranges::find(session.releases, id, &PendingRelease::id);
  if (found == session.releases.end()) return;
  const bool done = status.ok() || (found->repeated && reason_of(status) == Reason::NotOwner);
  const std::vector<CallId> waiting = std::move(found->waiting);
  session.releases.erase(found);
  const auto same = [&id](const PendingRelease& release) { return release.id.token == id.token; };
  if (id.number != 0 && !session.holds.contains(id.token) && std::ranges::none_of(session.releases, same)) {
    session.releases_counted.erase(id.token);
  }
  for (const CallId call : waiting) calls_.answer_done(call, done ? absl::OkStatus() : status);
}

}  // namespace coordkit::client
