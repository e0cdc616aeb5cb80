#include "sim/sessions/session_witness.h"

#include <fmt/format.h>

#include <vector>

namespace coordkit::sim {

using machine::Result;
using machine::ResultCode;

void SessionWitness::opened(CallNumber number, const absl::StatusOr<SessionRef>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  const CommandOutcomes::Outcome& outcome = rules_.only_execution(*call);
  if (!outcome.result || outcome.result->session != (*answer)->id() || outcome.result->ttl != (*answer)->ttl()) {
    fail("INV_K1", *call,
         fmt::format("answered with session {}, but the log decided {}", (*answer)->id().value(),
                     outcome.result ? outcome.result->session.value() : 0));
  }
  rules_.decided(*call, outcome.index);
}

void SessionWitness::closed(CallNumber number, SessionId session, const absl::Status& answer) {
  const Call* call = rules_.succeeded(number, answer);
  if (call && model_.sessions().never_resumed(session)) {
    fail("INV_R11", *call, "answered that the session has ended, but it lives");
  }
}

// With its holds at that time; the answer may have been made after the session ended or moved to yet another process.
bool SessionWitness::resumed(CallNumber number, SessionId session, const absl::StatusOr<ResumedSession>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return false;
  const auto at = rules_.match(*call, [&](const Result& result) {
    return result.code == ResultCode::Ok && result.session == session && result.ttl == answer->session->ttl();
  });
  if (!at) fail("INV_K1", *call, "the log knows of no such resume");
  const SessionModel::Session* lives = model_.sessions().find(session);
  if (lives == nullptr || lives->resumed != *at) return false;
  std::vector<Token> tokens;
  for (const HoldRef& hold : answer->holds) tokens.push_back(hold->token());
  if (tokens != lives->held_then) {
    fail("INV_L04", *call, fmt::format("answered with {} holds, but the log has {}", tokens.size(), lives->held_then.size()));
  }
  return lives->contested;
}

void SessionWitness::killed(CallNumber number, SessionId victim, const absl::Status& answer) {
  rules_.executed(number, answer,
                  [victim](const Result& result) { return result.code == ResultCode::Ok && result.session == victim; });
}

void SessionWitness::forced(CallNumber number, const absl::StatusOr<SessionId>& answer) {
  rules_.executed(number, answer.status(),
                  [&answer](const Result& result) { return result.code == ResultCode::Ok && result.session == *answer; });
}

void SessionWitness::listed(CallNumber number, const absl::StatusOr<SessionList>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  rules_.observed(*call, answer->as_of);
  std::vector<SessionId> sessions;
  for (const SessionInfo& session : answer->sessions) sessions.push_back(session.session);
  if (sessions != model_.sessions().alive_at(answer->as_of)) {
    fail("INV_L07", *call, fmt::format("the sessions at {} differ from the log's", answer->as_of.value()));
  }
}

}  // namespace coordkit::sim
