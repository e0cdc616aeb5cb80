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
#include "client/sessions/vouched_generation.h"
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
  Resume resume{
      .body = std::move(body),
      .terms = {.secret = std::move(secret), .give_up = options.give_up, .on_phase = shared(std::move(options.on_phase))},
      .known = requests_.applied()};
  return calls_.enter(std::move(done), OnAbandon::Pursue, options.deadline,
                      [this, resume = std::move(resume)](CallId id, Now now) mutable {
                        resume.call = id;
                        start_resume(std::move(resume), now);
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
void Sessions::start_resume(Resume resume, Now now) {
  if (calls_.find(resume.call) == nullptr) return;
  if (absl::Status refusal = refusal_of_resume(resume.body.id); !refusal.ok()) {
    calls_.fail(resume.call, std::move(refusal));
    return;
  }
  if (!resuming_.emplace(resume.body.id, resume.call).second) {
    requests_.retry(now, [this, resume = std::move(resume)](Now later) mutable { start_resume(std::move(resume), later); });
    return;
  }
  if (!resume.body.previous_is_gone || !requests_.state_is_elsewhere()) return submit_resume(std::move(resume), now);
  const Vouched vouched{resume.body.id, resume.known, calls_.find(resume.call)->deadline};
  learn_generation(requests_, vouched, now,
                   [this, resume = std::move(resume)](absl::StatusOr<Generation> generation, Now then) mutable {
                     if (!generation.ok()) {
                       resuming_.erase(resume.body.id);
                       calls_.fail(resume.call, generation.status());
                     } else {
                       resume.body.generation = *generation;
                       submit_resume(std::move(resume), then);
                     }
                   });
}

void Sessions::submit_resume(Resume resume, Now now) {
  Call* const call = calls_.find(resume.call);
  if (call == nullptr) return static_cast<void>(resuming_.erase(resume.body.id));
  resume.opening = ++last_opening_;
  openings_.emplace(resume.opening, Opening{.reference = now.leading, .ttl = machine::kTtlMin});
  call->submitted = true;
  const machine::Request request{.body = resume.body};
  call->ticket = requests_.submit(request, LaggingTime::max(), Urgency::Normal,
                                  [this, resume = std::move(resume)](const Completion& completion, Now then) mutable {
                                    resumed(std::move(resume), completion, then);
                                  });
}

// Until it is known what the session has, no renewal names it, and a second resume of it waits.
void Sessions::resumed(Resume resume, const Completion& completion, Now now) {
  const auto result = done_of(completion, Nameless{"session"});
  const Call* const call = calls_.find(resume.call);
  if (!result.ok() || call == nullptr) {
    openings_.erase(resume.opening);
    resuming_.erase(resume.body.id);
    if (!result.ok()) calls_.fail(resume.call, result.status());
    return;
  }
  const SessionId session = resume.body.id;
  const Taken taken{result->ttl, result->previous_gone, completion.index, now.lagging};
  list_belongings(requests_, session, taken.at, call->deadline, now,
                  [this, taken, resume = std::move(resume)](absl::StatusOr<Belongings> found, Now then) mutable {
                    take_over(std::move(resume), taken, std::move(found), then);
                  });
}

void Sessions::take_over(Resume resume, const Taken& taken, absl::StatusOr<Belongings> found, Now now) {
  const SessionId id = resume.body.id;
  openings_.erase(resume.opening);
  resuming_.erase(id);
  if (calls_.find(resume.call) == nullptr) return;
  absl::Status why;
  if (!found.ok()) {
    why =
        make_error(Reason::CallTimeout, Outcome::Unknown, "the session was taken over, but not what it holds: resume it again");
  } else if (table_.find(id) != nullptr) {
    why = make_error(Reason::Corrupt, Outcome::Unknown, "the machine resumed a session that is in use");
  } else if (requests_.state_is_elsewhere() && standing_in(found->info, requests_.group(taken.ttl)) == Standing::Gone) {
    why = make_error(Reason::Lost, "the session has ended, or another process has taken it over, since it was resumed here");
  }
  if (!why.ok()) return static_cast<void>(calls_.fail(resume.call, std::move(why)));
  Session& session =
      table_.add({.state = make_ref<SessionState>(id, taken.ttl, found->info ? found->info->metadata : "", resume.terms.secret),
                  .first_attempt = renewals_.next_attempt(),
                  .on_phase = std::move(resume.terms.on_phase),
                  .give_up = resume.terms.give_up,
                  .previous_trusts = !taken.previous_gone,
                  .bound_at = taken.at},
                 now.leading);
  renewals_.add(requests_.group(taken.ttl), session, LeadingTime::min());
  if (session.previous_trusts) {
    requests_.run_at(later(taken.when, taken.ttl), [this, id, at = taken.at](Now then) { previous_over(id, at, then); });
  }
  resumed_ = Resumed{resume.call, session.state, *std::move(found)};
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

namespace {

CallId mark_ending(Requests& requests, Calls& calls, machine::Request request, std::string subject, Callback<SessionId> done,
                   CallDeadline deadline) {
  if (absl::Status refusal = check_request(request); !refusal.ok()) return calls.refuse(std::move(done), refusal);
  return calls.enter(std::move(done), OnAbandon::Forget, deadline,
                     [&requests, &calls, request = std::move(request), subject = std::move(subject)](CallId id, Now) mutable {
                       Call& call = *calls.find(id);
                       call.submitted = true;
                       call.ticket = requests.submit(
                           request, call.deadline, Urgency::Normal,
                           [&calls, id, subject = std::move(subject)](const Completion& completion, Now) {
                             const auto result = result_of(completion);
                             const absl::Status status = result.ok() ? status_of(*result, subject) : result.status();
                             calls.answer<SessionId>(id, status.ok() ? absl::StatusOr<SessionId>(result->session) : status);
                           });
                     });
}

}  // namespace

CallId Sessions::kill(SessionId session, DoneCallback done, CallDeadline deadline) {
  return mark_ending(
      requests_, calls_, {.body = machine::KillSession{.victim = session}}, "session",
      [done = std::move(done)](absl::StatusOr<SessionId> marked) mutable { done(marked.status()); }, deadline);
}

CallId Sessions::force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline) {
  const std::string subject = name;
  machine::Request request{.body = machine::ForceRelease{.name = std::move(name), .token = token}};
  return mark_ending(requests_, calls_, std::move(request), subject, std::move(done), deadline);
}

}  // namespace coordkit::client
