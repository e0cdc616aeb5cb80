#include "client/sessions/sessions.h"

#include <utility>

#include "client/calls/answers.h"
#include "client/locks/lent_delegations.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

// A lease stays with its first keeper; a later lease with the same id has a different number.
Standing standing_in(const machine::Leases& now, const Session& session, const TimerGroup&) {
  const bool ours = !now.leases.empty() && now.leases.front().number == session.id();
  return ours ? Standing::Ours : Standing::Gone;
}

Standing standing_in(const std::optional<machine::SessionInfo>& info, const Session&, const TimerGroup& ours) {
  return client::standing_in(info, ours);
}

std::vector<CallId> take_closing(Session& session) {
  return session.extension ? std::exchange(session.extension->closing, {}) : std::vector<CallId>();
}

}  // namespace

Standing standing_in(const std::optional<machine::SessionInfo>& info, const TimerGroup& ours) {
  if (!info) return Standing::Gone;
  if (TimerGroup{info->node, info->boot, info->incarnation, info->ttl} != ours) return Standing::Gone;
  return info->ending ? Standing::Ending : Standing::Ours;
}

OnPhase Sessions::shared(absl::AnyInvocable<void(SessionPhase)> on_phase) {
  return on_phase ? make_ref<PhaseCallback>(std::move(on_phase)) : nullptr;
}

CallId Sessions::open(OpenOptions options, Callback<SessionRef> done) {
  const TimerGroup process = requests_.group({});
  Terms terms{.metadata = options.metadata,
              .secret = options_.draw_secret ? options_.draw_secret() : std::string(),
              .give_up = options.give_up,
              .on_phase = shared(std::move(options.on_phase))};
  machine::OpenSession body{.ttl = options.ttl,
                            .metadata = std::move(options.metadata),
                            .node = process.node,
                            .boot = process.boot,
                            .incarnation = process.incarnation};
  if (!terms.secret.empty()) body.secret = lease::hash_of_secret(terms.secret);
  return open({.body = std::move(body)}, options.ttl, std::move(terms), std::move(done), options.deadline,
              [this](CallId id, const Session& session) { calls_.answer<SessionRef>(id, session.state); });
}

CallId Sessions::open(machine::Request request, Duration ttl, Terms terms, AnyCallback callback, CallDeadline deadline,
                      OnOpened opened) {
  if (absl::Status refusal = check_request(request); !refusal.ok()) return calls_.refuse(std::move(callback), refusal);
  return calls_.enter(
      std::move(callback), OnAbandon::Pursue, deadline,
      [this, request = std::move(request), ttl, terms = std::move(terms), opened = std::move(opened)](
          CallId id, Now now) mutable { start_open(id, now, request, ttl, std::move(terms), std::move(opened)); });
}

// The engine pursues it without end: a caller that gives up must not leave an unknown session behind. Its repeats inside the
// engine are the same request, so the first send is the reference (LT-1).
void Sessions::start_open(CallId id, Now now, const machine::Request& request, Duration ttl, Terms terms, OnOpened opened) {
  const uint64_t opening = ++last_opening_;
  openings_.emplace(opening, Opening{.reference = now.leading, .ttl = ttl});
  Call& call = *calls_.find(id);
  call.submitted = true;
  call.ticket = requests_.submit(request, LaggingTime::max(), Urgency::Normal,
                                 [this, id, opening, terms = std::move(terms), answer = std::move(opened)](
                                     const Completion& completion, Now then) mutable {
                                   this->opened(id, opening, completion, then, std::move(terms), std::move(answer));
                                 });
}

void Sessions::opened(CallId id, uint64_t opening, const Completion& completion, Now now, Terms terms, OnOpened answer) {
  const LeadingTime reference = openings_.at(opening).reference;
  openings_.erase(opening);
  const auto result = done_of(completion, Nameless{"session"});
  if (!result.ok()) {
    calls_.fail(id, result.status());
    return;
  }
  if (table_.find(result->session) != nullptr) {
    calls_.fail(id, make_error(Reason::Corrupt, Outcome::Unknown, "the machine gave a session id that is in use"));
    return;
  }
  const bool wanted = calls_.find(id) != nullptr;
  Session& session = table_.add({.state = make_ref<SessionState>(result->session, result->ttl, terms.metadata, terms.secret),
                                 .reference = reference,
                                 .first_attempt = renewals_.next_attempt(),
                                 .on_phase = wanted ? std::move(terms.on_phase) : nullptr,
                                 .give_up = terms.give_up,
                                 .lease = result->lease},
                                now.leading);
  renewals_.add(requests_.group(result->ttl), session, reference);
  if (!wanted) {
    table_.lose(session, SessionEvent::Closed);
  } else {
    answer(id, session);
  }
}

CallId Sessions::close(const SessionRef& session, DoneCallback done, CallDeadline deadline) {
  if (session == nullptr) return calls_.refuse(std::move(done), no_session());
  session->invalidate();  // T8: before anything is sent
  Session* known = table_.find(session);
  if (known == nullptr) return calls_.refuse(std::move(done), absl::OkStatus());
  const CallId id = calls_.enter(std::move(done), OnAbandon::Persist, deadline, [](CallId, Now) {});
  calls_.find(id)->submitted = true;
  known->make_extension().closing.push_back(id);
  table_.lose(*known, SessionEvent::Closed);
  end_lost();
  return id;
}

void Sessions::end_lost() {
  for (const SessionId id : table_.take_lost()) {
    Session* session = table_.find(id);
    if (session == nullptr) continue;
    renewals_.exclude(requests_.group(session->ttl()), id);
    while (!session->acquires.empty()) calls_.fail(session->acquires.first->call, lost_while_acquiring());
    post_close(id);
  }
}

// A lost session must really end, so that no client waits for holds that their owner no longer uses. While its previous
// process may trust it, its holds must not be granted to others: the close waits for previous_over().
void Sessions::post_close(SessionId id) {
  const Session* lost = table_.find(id);
  if (lost == nullptr || lost->previous_trusts) return;
  machine::Request close{.body = machine::CloseSession{.session = id}};
  if (lost->lease()) close.body = machine::RevokeLease{.id = lost->lease(), .number = id};
  requests_.submit(close, LaggingTime::max(), Urgency::Reserved,
                   [this, id, state = lost->state](const Completion& completion, Now now) {
                     Session* session = table_.find(state);
                     if (session == nullptr) return;
                     if (result_of(completion).ok()) return ended(id);
                     if (!requests_.halted()) {
                       return requests_.retry(now, [this, id, state](Now) {
                         if (table_.find(state) != nullptr) post_close(id);
                       });
                     }
                     for (const CallId caller : take_closing(*session)) {
                       calls_.answer_done(caller, completion.status);
                     }
                   });
}

// The log reports the end: no part of the session is left anywhere.
void Sessions::ended(SessionId id) {
  Session* session = table_.find(id);
  if (session == nullptr) return renewals_.stranger_ended(id);
  renewals_.ended(requests_.group(session->ttl()), id);
  table_.lose(*session, SessionEvent::Ended);
  const absl::Status lost = make_error(Reason::Lost, "the session has ended, and its holds with it; open a new one");
  while (!session->acquires.empty()) calls_.fail(session->acquires.first->call, lost);
  session->releases.each([&](const PendingRelease& release) {
    release.waiting.each([&](CallId caller) { calls_.answer_done(caller, lost); });
    return true;
  });
  for (const CallId caller : take_closing(*session)) calls_.answer_done(caller, absl::OkStatus());
  table_.erase(id);
}

// Another process has the session now: there is nothing to close here. Reports from before this client took it over are
// obsolete.
void Sessions::resumed_elsewhere(Index index, const machine::SessionResumed& resumed) {
  const Session* session = table_.find(resumed.session);
  if (session == nullptr || index <= session->bound_at()) return;
  const TimerGroup binding{resumed.node, resumed.boot, resumed.incarnation, session->ttl()};
  if (binding != requests_.group(session->ttl())) ended(resumed.session);
}

// S-57: the session is lost, and its own holder closes it as soon as possible, which spares other clients the rest of the
// wait.
void Sessions::ending(SessionId id) {
  if (Session* session = table_.find(id)) table_.lose(*session, SessionEvent::Ended);
}

// This replica's state is at least that of the answer. A state that is elsewhere has to be asked.
void Sessions::check_lost(Session& session) {
  if (requests_.state_is_elsewhere()) return question(session.id());
  const machine::Reads* state = requests_.reads();
  state ? follow(session, standing(session, *state)) : ended(session.id());
}

// A renewal did not cover a session that it included. Perhaps its end is near. Perhaps it ended or changed process while this
// replica installed a checkpoint and saw no event. One linearizable read tells.
void Sessions::question(SessionId id) {
  Session* session = table_.find(id);
  if (session == nullptr || session->questioned) return;
  session->questioned = true;
  const Ask terms{.deadline = requests_.now() + 2 * options_.election_timeout};
  const auto answered = [this, ref = session->state](const auto&, const auto& answer, const Completion&, Now) {
    Session* asked = table_.find(ref);
    if (asked == nullptr) return;
    asked->questioned = false;
    if (answer.ok()) follow(*asked, standing_in(*answer, *asked, requests_.group(asked->ttl())));
  };
  if (const LeaseId lease = session->lease()) {
    requests_.ask(terms, machine::LeaseOf{.lease = lease}, answered);
  } else {
    requests_.ask(terms, machine::SessionOf{id}, answered);
  }
}

Standing Sessions::standing(const Session& session, const machine::Reads& state) const {
  const TimerGroup ours = requests_.group(session.ttl());
  if (const LeaseId lease = session.lease()) return standing_in(state.lease(lease, false, ""), session, ours);
  return standing_in(state.session(session.id()), session, ours);
}

bool Sessions::gone(const Session& session) const {
  const machine::Reads* state = requests_.halted() ? nullptr : requests_.reads();
  return state != nullptr && standing(session, *state) == Standing::Gone;
}

void Sessions::follow(Session& session, Standing standing) {
  switch (standing) {
    case Standing::Gone: return ended(session.id());
    case Standing::Ending: return table_.lose(session, SessionEvent::Ended);
    case Standing::Ours: return;
  }
}

void Sessions::lose_all(SessionEvent why) {
  std::vector<SessionId> known;
  for (const auto& [id, session] : table_.all()) known.push_back(id);
  for (const SessionId id : known) table_.lose(*table_.find(id), why);
}

// Entries were skipped, and so were the events about ended sessions in them (docs/decisions/0006).
void Sessions::question_all() {
  for (const auto& [id, session] : table_.all()) question(id);
}

// ---- the loop

void Sessions::gap(Duration late, LeadingTime now) {
  table_.gap(late, renewals_.next_attempt(), now);
  for (auto& [number, opening] : openings_) {
    if (late > table_.renewal_interval(std::max(opening.ttl, machine::kTtlMin))) opening.reference = LeadingTime::min();
  }
  if (late == Duration::max()) renewals_.restart(now);
}

void Sessions::renew(LeadingTime now) {
  while (std::optional<RenewRequest> request = renewals_.due(now)) {
    request->as_of = requests_.applied();  // all answers and events up to there have been seen, including that of a resume
    requests_.renew(*std::move(request));
  }
}

void Sessions::confirm(const RenewReply& reply, Now now) {
  const uint64_t next = last_opening_ + 1;
  const Renewals::Opens opens{openings_.empty() ? next : openings_.begin()->first, next};
  for (const SessionId id : renewals_.confirm(reply, opens, now.leading)) question(id);
}

void Sessions::stop() {
  while (!table_.all().empty()) {
    Session& session = *table_.all().begin()->second;
    table_.lose(session, SessionEvent::Closed);
    renewals_.ended(requests_.group(session.ttl()), session.id());
    table_.erase(session.id());
  }
  openings_.clear();
  resuming_.clear();
}

void Sessions::fill(ClientStatus& status) const {
  status.opens = openings_.size();
  status.sessions = table_.all().size();
  status.orphans = renewals_.orphans();
  status.attempts = renewals_.attempts();
  status.looks = table_.looks() + renewals_.looks();
  for (const auto& [id, session] : table_.all()) {
    const Delegations* const lent = session->state->delegations();
    status.holds += session->holds.size() + (lent != nullptr ? lent->size() : 0);
    status.releases += session->releases.size();
  }
}

}  // namespace coordkit::client
