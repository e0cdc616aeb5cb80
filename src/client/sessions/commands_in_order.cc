#include "client/sessions/commands_in_order.h"

#include <algorithm>
#include <utility>

namespace coordkit::client {

// Releases already named by the request are not named twice.
SessionCommands::Carried SessionCommands::carry(Session& session, machine::Request& request,
                                                std::span<const ReleaseNumber> named) {
  if (session.previous_trusts) return nullptr;  // S-45: no release may take effect yet
  const bool ordered = requests_.feature_level() >= kOrderedLevel;
  if (ordered && session.releases.all_posted()) return nullptr;
  std::vector<ReleaseNumber> carried;
  session.releases.each([&](PendingRelease& pending) {
    if (ordered && pending.posted) return true;
    if (std::ranges::find(named, pending.number) != named.end()) return true;
    if (request.prior_releases.size() == machine::kPriorReleasesMax) return false;
    pending.repeated = true;
    carried.push_back(pending.number);
    request.prior_releases.push_back({pending.name, pending.id.token, pending.id.number});
    return true;
  });
  return carried.empty() ? nullptr : std::make_unique<const std::vector<ReleaseNumber>>(std::move(carried));
}

Ticket SessionCommands::comes_after(const Session& session) const {
  return requests_.feature_level() >= kOrderedLevel ? session.releases.last_command() : Ticket();
}

void SessionCommands::answered(const SessionRef& of, const Completion& completion, const Result& result,
                               const Carried& carried) {
  Session* session = table_.find(of);
  if (session == nullptr) return;
  session->releases.command_answered(completion.ticket);
  if (carried == nullptr || !result.ok() || !was_executed(*result)) return;
  for (const ReleaseNumber number : *carried) release_done(*session, number, absl::OkStatus());
}

// Acts on the answer's statement about the session itself.
void SessionCommands::settle(const SessionRef& of, const Result& result) {
  Session* left = table_.find(of);
  if (left == nullptr || !result.ok()) return;
  if (result->code == machine::ResultCode::SessionNotFound) sessions_.ended(of->id());
  if (result->code == machine::ResultCode::Lost) sessions_.check_lost(*left);
}

bool SessionCommands::lost_its_session(const SessionRef& of) const {
  const Session* session = table_.find(of);
  return session != nullptr && sessions_.gone(*session);
}

void SessionCommands::release_done(Session& session, ReleaseNumber number, const absl::Status& status) {
  PendingRelease* found = session.releases.find(number);
  if (found == nullptr) return;
  const bool done = status.ok() || (found->repeated && reason_of(status) == Reason::NotOwner);
  const auto waiting = std::move(found->waiting);
  const ReleaseId id = found->id;
  session.releases.erase(number);
  const auto same = [&id](const PendingRelease& release) { return release.id.token == id.token; };
  if (id.number != 0 && session.holds.find(id.token) == nullptr && !session.releases.any(same)) {
    session.make_extension().releases_counted.erase(id.token);
  }
  waiting.each([&](CallId call) { calls_.answer_done(call, done ? absl::OkStatus() : status); });
}

}  // namespace coordkit::client
