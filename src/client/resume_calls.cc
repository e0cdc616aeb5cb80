// Sessions that come from another process, and the end of other people's sessions (docs/semantics.md S-45, S-57).
//
// A resumed session may still be trusted by the process that had it, for a TTL after this one heard of the resume: every
// renewal that was ever acknowledged to the former process was sent before the resume took effect, hence before its answer came
// here (docs/time.md). Until then the session is `settling`: in jeopardy, and nothing of it is let go in the log. The wait is
// measured by the lagging clock, as by everyone who waits for somebody else's time to be over.
#include <algorithm>

#include "base/mutant.h"
#include "client/impl.h"
#include "client/times.h"
#include "coordkit/error.h"

namespace coordkit {

CallId Client::Impl::resume_session(SessionId session, std::string secret, ResumeOptions options,
                                    Callback<ResumedSession> done) {
  machine::ResumeSession body{.id = session, .secret = secret, .former_is_gone = options.former_is_gone};
  if (absl::Status door = client::check_request({.body = body}); !door.ok()) return refuse(std::move(done), door);
  if (resuming_.contains(session)) {
    return refuse(std::move(done),
                  make_error(Reason::AlreadyExists, "this client is taking the session over already; wait for that call"));
  }
  if (const Session* known = sessions_.find(session)) {
    return refuse(std::move(done),
                  known->phase == SessionPhase::Lost
                      ? make_error(Reason::SessionNotFound, "this client has lost the session and is closing it")
                      : make_error(Reason::AlreadyExists, "this client has the session: use the handle it was opened with"));
  }
  Wish wish{.secret = std::move(secret), .give_up = options.give_up};
  if (options.on_phase) wish.on_phase = std::make_shared<OnPhase::element_type>(std::move(options.on_phase));
  return enter(std::move(done), Fate::Pursue, options.deadline, options_.call_timeout,
               [this, body = std::move(body), wish = std::move(wish)](CallId id, Now now) mutable {
                 start_resume(id, now, std::move(body), std::move(wish));
               });
}

// Pursued without end, like an open. One that succeeds when nobody waits for it any more leaves the session bound to this
// process and unknown to it: renewals leave it out, and it expires unless it is resumed again.
void Client::Impl::start_resume(CallId id, Now now, machine::ResumeSession body, Wish wish) {
  if (!resuming_.insert(body.id).second) {
    fail(id, make_error(Reason::AlreadyExists, "this client is taking the session over already; wait for that call"));
    return;
  }
  const uint64_t open = ++last_open_;
  opens_.emplace(open, Open{.reference = now.leading, .ttl = machine::kTtlMin});
  Call& call = *find(id);
  call.submitted = true;
  machine::Request request{.body = body};
  call.ticket =
      submit(request, LaggingTime::max(), Urgency::Normal,
             [this, id, open, body = std::move(body), wish = std::move(wish)](const Completion& completion, Now then) mutable {
               resumed(id, open, body, completion, then, std::move(wish));
             });
}

void Client::Impl::resumed(CallId id, uint64_t open, const machine::ResumeSession& body, const Completion& completion, Now now,
                           Wish wish) {
  opens_.erase(open);
  resuming_.erase(body.id);
  const auto result = client::result_of(completion);
  if (!result.ok() || result->code != machine::ResultCode::Ok) {
    fail(id, result.ok() ? client::status_of(*result, client::Nameless{"session"}) : result.status());
    return;
  }
  if (find(id) == nullptr) return;
  if (sessions_.find(body.id) != nullptr) {
    fail(id, make_error(Reason::Corrupt, Outcome::Unknown, "the machine resumed a session that is in use"));
    return;
  }
  const machine::Reads* state = reads();
  const auto info = state ? state->session(body.id) : std::nullopt;
  Session& session = sessions_.add(
      {.state = std::make_shared<SessionState>(body.id, result->ttl, info ? info->metadata : "", std::move(wish.secret)),
       .group = own_group(result->ttl),
       .first_attempt = renewals_.next_attempt(),
       .on_phase = std::move(wish.on_phase),
       .give_up = wish.give_up,
       .settling = !result->former_gone,
       .bound_at = completion.index},
      now.leading);
  renewals_.add(session, LeadingTime::min());
  if (session.settling) {
    run_later(client::later(now.lagging, result->ttl),
              [this, session_id = body.id, at = completion.index](Now then) { settle(session_id, at, then); });
  }
  ResumedSession found{.session = session.state, .holds = adopt_holds(session)};
  adopt_objects(session, found);
  answer<ResumedSession>(id, std::move(found));
}

// The state of this replica is at least that of the resume, and since then only the end of the session, or this client, takes
// a hold away: a look at it is exact. An end shows as an event right after this.
std::vector<HoldRef> Client::Impl::adopt_holds(Session& session) {
  std::vector<HoldRef> holds;
  const machine::Reads* state = reads();
  if (state == nullptr) return holds;
  for (Token after;;) {
    const machine::HeldLocks page = state->locks_of(session.id(), after);
    for (size_t i = 0; i < page.locks.size(); ++i) {
      const machine::HeldLock& lock = page.locks[i];
      if (lock.last) {
        holds.push_back(adopt_delegation(session, lock));
        continue;
      }
      HoldTerms terms{.mode = lock.mode, .counted = true, .others = {}};
      for (; i + 1 < page.locks.size() && page.locks[i + 1].token == lock.token; ++i) {
        terms.others.push_back({page.locks[i + 1].name, page.locks[i + 1].mode});
      }
      // One handle stands for all counts, and it may be counted up again: its release is numbered as the last so far.
      session.releases_counted[lock.token] = lock.releases + lock.count - 1;
      holds.push_back(sessions_.adopt(session, lock.name, lock.owner_tag, lock.token, lock.since, std::move(terms)));
    }
    if (!page.more || page.locks.empty()) return holds;
    after = page.locks.back().token;
  }
}

// Likewise.
void Client::Impl::adopt_objects(Session& session, ResumedSession& resumed) {
  const auto adopt = [&](machine::OwnedObject& object) {
    return sessions_.adopt(session, std::move(object.name), {}, object.token, object.since, {});
  };
  const machine::Reads* state = reads();
  if (state == nullptr) return;
  for (machine::OwnedObjects::Place after;;) {
    machine::OwnedObjects page = state->objects_of(session.id(), after);
    if (page.rows.empty()) return;
    after = page.last();
    for (machine::OwnedObject& object : page.rows) {
      switch (object.kind) {
        case coordination::Kind::Semaphore: resumed.permits.push_back({adopt(object), object.count}); break;
        case coordination::Kind::DoubleBarrier: resumed.places.push_back(adopt(object)); break;
        case coordination::Kind::Queue:
          resumed.items.push_back({adopt(object), object.id, object.count, std::move(object.value)});
          break;
        case coordination::Kind::Group:
          resumed.memberships.push_back({object.name, object.owner, object.id, std::move(object.value)});
          break;
        default: break;
      }
    }
    if (!page.more) return;
  }
}

// `at`: of the resume that began the wait; the session may have been lost and resumed again since.
void Client::Impl::settle(SessionId id, Index at, Now now) {
  Session* session = sessions_.find(id);
  if (session == nullptr || session->bound_at != at) return;
  sessions_.settled(*session, now.leading);
  if (session->phase == SessionPhase::Lost) return post_close(id);
  stalled_.insert(id);
  const bool waiting = std::any_of(session->releases.begin(), session->releases.end(),
                                   [](const client::PendingRelease& release) { return !release.posted; });
  if (waiting) releasing_.insert(id);
}

// ---- the end of somebody else's session

CallId Client::Impl::kill_session(SessionId session, DoneCallback done, CallDeadline deadline) {
  return mark_ending(
      {.body = machine::KillSession{.victim = session}}, "session",
      [done = std::move(done)](absl::StatusOr<SessionId> marked) mutable { done(marked.status()); }, deadline);
}

CallId Client::Impl::force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline) {
  const std::string subject = name;
  return mark_ending({.body = machine::ForceRelease{.name = std::move(name), .token = token}}, subject, std::move(done),
                     deadline);
}

CallId Client::Impl::mark_ending(machine::Request request, std::string subject, Callback<SessionId> done,
                                 CallDeadline deadline) {
  if (absl::Status door = client::check_request(request); !door.ok()) return refuse(std::move(done), door);
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, request = std::move(request), subject = std::move(subject)](CallId id, Now) {
                 Call& call = *find(id);
                 call.submitted = true;
                 call.ticket = submit(request, call.deadline, Urgency::Normal, [this, id, subject](const Completion& end, Now) {
                   const auto result = client::result_of(end);
                   const absl::Status status = result.ok() ? client::status_of(*result, subject) : result.status();
                   answer<SessionId>(id, status.ok() ? absl::StatusOr<SessionId>(result->session) : status);
                 });
               });
}

}  // namespace coordkit
