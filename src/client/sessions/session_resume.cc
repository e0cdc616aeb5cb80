// Sessions taken over from another process, and the end of other clients' sessions (docs/semantics.md S-45, S-57).
//
// The former process may still trust a resumed session for a TTL after this process learned of the resume. Every renewal that
// was ever acknowledged to that process was sent before the resume took effect, hence before its answer arrived here
// (docs/time.md). Until then the session is in jeopardy, and the log releases nothing of it (Session::previous_trusts). The
// wait is measured by the lagging clock, like every wait for another process's time to run out.
#include <utility>

#include "client/calls/answers.h"
#include "client/calls/times.h"
#include "client/sessions/sessions.h"
#include "coordkit/error.h"

namespace coordkit::client {

CallId Sessions::resume(SessionId session, std::string secret, ResumeOptions options, Callback<ResumedSession> done) {
  machine::ResumeSession body{.id = session, .secret = secret, .previous_is_gone = options.previous_is_gone};
  if (absl::Status refusal = check_request({.body = body}); !refusal.ok()) return calls_.refuse(std::move(done), refusal);
  if (absl::Status refusal = refusal_of_resume(session); !refusal.ok()) return calls_.refuse(std::move(done), refusal);
  if (body.previous_is_gone) {
    const machine::Reads* state = requests_.reads();
    const auto known = state ? state->session(session) : std::nullopt;
    if (known) body.generation = known->generation;
  }
  Terms terms{.secret = std::move(secret), .give_up = options.give_up, .on_phase = shared(std::move(options.on_phase))};
  return calls_.enter(std::move(done), OnAbandon::Pursue, options.deadline,
                      [this, body = std::move(body), terms = std::move(terms)](CallId id, Now now) mutable {
                        start_resume(id, now, std::move(body), std::move(terms));
                      });
}

absl::Status Sessions::refusal_of_resume(SessionId session) {
  const auto under_way = resuming_.find(session);
  if (under_way != resuming_.end() && calls_.find(under_way->second) != nullptr) {
    return make_error(Reason::AlreadyExists, "this client is taking the session over already; wait for that call");
  }
  const Session* known = table_.find(session);
  if (known == nullptr) return absl::OkStatus();
  return known->phase == SessionPhase::Lost
             ? make_error(Reason::SessionNotFound, "this client has lost the session and is closing it")
             : make_error(Reason::AlreadyExists,
                          "this replica has the session already: use the handle that it was opened or resumed with");
}

// Pursued without end, like an open. A resume that succeeds after its caller is gone leaves the session bound to this process
// and unknown to it. Renewals exclude it, and it expires unless it is resumed again. A second resume of the session meanwhile
// waits for the first. Otherwise the first could take effect last, and the holds would have other tokens than their handles.
void Sessions::start_resume(CallId id, Now now, machine::ResumeSession body, Terms terms) {
  if (calls_.find(id) == nullptr) return;
  if (absl::Status refusal = refusal_of_resume(body.id); !refusal.ok()) {
    calls_.fail(id, std::move(refusal));
    return;
  }
  if (!resuming_.emplace(body.id, id).second) {
    requests_.retry(now, [this, id, body = std::move(body), terms = std::move(terms)](Now later) mutable {
      start_resume(id, later, std::move(body), std::move(terms));
    });
    return;
  }
  const uint64_t opening = ++last_opening_;
  openings_.emplace(opening, Opening{.reference = now.leading, .ttl = machine::kTtlMin});
  Call& call = *calls_.find(id);
  call.submitted = true;
  machine::Request request{.body = body};
  call.ticket = requests_.submit(
      request, LaggingTime::max(), Urgency::Normal,
      [this, id, opening, body = std::move(body), terms = std::move(terms)](const Completion& completion, Now then) mutable {
        resumed(id, opening, body, completion, then, std::move(terms));
      });
}

void Sessions::resumed(CallId id, uint64_t opening, const machine::ResumeSession& body, const Completion& completion, Now now,
                       Terms terms) {
  openings_.erase(opening);
  resuming_.erase(body.id);
  const auto result = done_of(completion, Nameless{"session"});
  if (!result.ok()) {
    calls_.fail(id, result.status());
    return;
  }
  if (calls_.find(id) == nullptr) return;
  if (table_.find(body.id) != nullptr) {
    calls_.fail(id, make_error(Reason::Corrupt, Outcome::Unknown, "the machine resumed a session that is in use"));
    return;
  }
  const machine::Reads* state = requests_.reads();
  const auto info = state ? state->session(body.id) : std::nullopt;
  Session& session =
      table_.add({.state = make_ref<SessionState>(body.id, result->ttl, info ? info->metadata : "", terms.secret),
                  .first_attempt = renewals_.next_attempt(),
                  .on_phase = std::move(terms.on_phase),
                  .give_up = terms.give_up,
                  .previous_trusts = !result->previous_gone,
                  .bound_at = completion.index},
                 now.leading);
  renewals_.add(requests_.group(result->ttl), session, LeadingTime::min());
  if (session.previous_trusts) {
    requests_.run_at(later(now.lagging, result->ttl),
                     [this, session_id = body.id, at = completion.index](Now then) { previous_over(session_id, at, then); });
  }
  resumed_ = Resumed{id, session.state};
}

// `at`: the entry of the resume that began the wait. The session may have been lost and resumed again since.
void Sessions::previous_over(SessionId id, Index at, Now now) {
  Session* session = table_.find(id);
  if (session == nullptr || session->bound_at() != at) return;
  table_.previous_over(*session, now.leading);
  if (session->phase == SessionPhase::Lost) return post_close(id);
  settled_.push_back(id);
}

// ---- the end of another session

CallId Sessions::kill(SessionId session, DoneCallback done, CallDeadline deadline) {
  return mark_ending(
      {.body = machine::KillSession{.victim = session}}, "session",
      [done = std::move(done)](absl::StatusOr<SessionId> marked) mutable { done(marked.status()); }, deadline);
}

CallId Sessions::force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline) {
  const std::string subject = name;
  return mark_ending({.body = machine::ForceRelease{.name = std::move(name), .token = token}}, subject, std::move(done),
                     deadline);
}

CallId Sessions::mark_ending(machine::Request request, std::string subject, Callback<SessionId> done, CallDeadline deadline) {
  if (absl::Status refusal = check_request(request); !refusal.ok()) return calls_.refuse(std::move(done), refusal);
  return calls_.enter(std::move(done), OnAbandon::Forget, deadline,
                      [this, request = std::move(request), subject = std::move(subject)](CallId id, Now) mutable {
                        Call& call = *calls_.find(id);
                        call.submitted = true;
                        call.ticket = requests_.submit(
                            request, call.deadline, Urgency::Normal,
                            [this, id, subject = std::move(subject)](const Completion& completion, Now) {
                              const auto result = result_of(completion);
                              const absl::Status status = result.ok() ? status_of(*result, subject) : result.status();
                              calls_.answer<SessionId>(id, status.ok() ? absl::StatusOr<SessionId>(result->session) : status);
                            });
                      });
}

}  // namespace coordkit::client
