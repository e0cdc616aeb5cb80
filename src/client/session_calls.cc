// Sessions: opened through the log, renewed beside it, ended for good once lost (rules of time: docs/time.md).
#include "base/mutant.h"
#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {

CallId Client::Impl::open_session(OpenOptions options, Callback<SessionRef> done) {
  Wish wish{.metadata = options.metadata,
            .secret = options_.draw_secret ? options_.draw_secret() : std::string(),
            .give_up = options.give_up};
  machine::OpenSession body{.ttl = options.ttl,
                            .metadata = std::move(options.metadata),
                            .node = engine_.self(),
                            .boot = engine_.boot(),
                            .incarnation = engine_.store().value()};
  if (!wish.secret.empty()) body.secret = lease::hash_of_secret(wish.secret);
  if (absl::Status door = client::check_request({.body = body}); !door.ok()) return refuse(std::move(done), door);
  if (options.on_phase) wish.on_phase = std::make_shared<OnPhase::element_type>(std::move(options.on_phase));
  return enter(std::move(done), Fate::Pursue, options.deadline, options_.call_timeout,
               [this, body = std::move(body), wish = std::move(wish)](CallId id, Now now) mutable {
                 const Duration ttl = body.ttl;
                 start_open(id, now, {.body = std::move(body)}, ttl, std::move(wish));
               });
}

TimerGroup Client::Impl::own_group(Duration ttl) const {
  return {.node = engine_.self(), .boot = engine_.boot(), .incarnation = engine_.store().value(), .ttl = ttl};
}

// The engine pursues it without end: a caller who gives up must not leave a session that nobody knows. Its repeats inside
// the engine are the same request, so the first send is the reference (LT-1).
void Client::Impl::start_open(CallId id, Now now, machine::Request request, Duration ttl, Wish wish) {
  const uint64_t open = ++last_open_;
  opens_.emplace(open, Open{.reference = now.leading, .ttl = ttl});
  Call& call = *find(id);
  call.submitted = true;
  call.ticket = submit(request, LaggingTime::max(), Urgency::Normal,
                       [this, id, open, wish = std::move(wish)](const Completion& completion, Now then) mutable {
                         opened(id, open, completion, then, std::move(wish));
                       });
}

void Client::Impl::opened(CallId id, uint64_t open, const Completion& completion, Now now, Wish wish) {
  const LeadingTime reference = opens_.at(open).reference;
  opens_.erase(open);
  const auto result = client::result_of(completion);
  if (!result.ok() || result->code != machine::ResultCode::Ok) {
    fail(id, result.ok() ? client::status_of(*result, client::Nameless{"session"}) : result.status());
    return;
  }
  if (sessions_.find(result->session) != nullptr) {
    fail(id, make_error(Reason::Corrupt, Outcome::Unknown, "the machine gave a session id that is in use"));
    return;
  }
  const bool wanted = find(id) != nullptr;
  Session& session = sessions_.add(
      {.state = std::make_shared<SessionState>(result->session, result->ttl, std::move(wish.metadata), std::move(wish.secret)),
       .group = own_group(result->ttl),
       .reference = reference,
       .first_attempt = renewals_.next_attempt(),
       .on_phase = wanted ? std::move(wish.on_phase) : nullptr,
       .give_up = wish.give_up,
       .lease = result->lease},
      now.leading);
  renewals_.add(session, reference);
  if (!wanted) {
    sessions_.lose(session, SessionEvent::Closed);
  } else if (session.lease) {
    granted_lease(id, session.state, session.lease);
  } else {
    answer<SessionRef>(id, session.state);
  }
}

CallId Client::Impl::close(const SessionRef& session, DoneCallback done, CallDeadline deadline) {
  if (session == nullptr)
    return refuse(std::move(done), make_error(Reason::InvalidArgument, "no session was given; open one first"));
  session->invalidate();  // T8: before anything is sent
  Session* known = same_life(session);
  if (known == nullptr) return refuse(std::move(done), absl::OkStatus());
  const CallId id = enter(std::move(done), Fate::Persist, deadline, options_.call_timeout, [](CallId, Now) {});
  find(id)->submitted = true;
  known->closing.push_back(id);
  sessions_.lose(*known, SessionEvent::Closed);
  bury_lost();
  return id;
}

void Client::Impl::bury_lost() {
  for (const SessionId id : sessions_.take_lost()) {
    Session* session = sessions_.find(id);
    if (session == nullptr) continue;
    renewals_.exclude(*session);
    while (!session->acquires.empty()) {
      fail(*session->acquires.begin(),
           make_error(Reason::Lost, "the session ended while the acquire was under way; open a new one"));
    }
    if (!mutant(Mutant::LostIsNotClosed)) post_close(id);
  }
}

// A lost session must really end, so that nobody waits for what its former owner no longer uses.
// While its former process may trust it, nobody may be granted what it holds: the close waits for settle().
void Client::Impl::post_close(SessionId id) {
  const Session* lost = sessions_.find(id);
  if (lost == nullptr || lost->settling) return;
  machine::Request close{.body = machine::CloseSession{.session = id}};
  if (lost->lease) close.body = machine::RevokeLease{.id = lost->lease, .number = id};
  submit(close, LaggingTime::max(), Urgency::Reserved, [this, id, state = lost->state](const Completion& completion, Now now) {
    Session* session = same_life(state);
    if (session == nullptr) return;
    if (const auto result = client::result_of(completion); result.ok()) return ended(id);
    if (!halted_)
      return run_later(retry_time(now), [this, id, state](Now) {
        if (same_life(state) != nullptr) post_close(id);
      });
    for (const CallId caller : std::exchange(session->closing, {})) answer_done(caller, completion.status);
  });
}

// The log says so: nothing of it is left anywhere.
void Client::Impl::ended(SessionId id) {
  renewals_.ended(id);
  Session* session = sessions_.find(id);
  if (session == nullptr) return;
  sessions_.lose(*session, SessionEvent::Ended);
  const absl::Status lost = make_error(Reason::Lost, "the session has ended, and its holds with it; open a new one");
  while (!session->acquires.empty()) fail(*session->acquires.begin(), lost);
  for (const client::PendingRelease& release : session->releases) {
    for (const CallId caller : release.waiting) answer_done(caller, lost);
  }
  for (const CallId caller : session->closing) answer_done(caller, absl::OkStatus());
  releasing_.erase(id);
  sessions_.erase(id);
}

// A command was answered Lost: the session has ended or belongs to another process, or it is ending and still to be closed. The
// state of this replica is at least that of the answer.
void Client::Impl::told_lost(Session& session) {
  const machine::Reads* state = reads();
  state ? look_at(session, *state) : ended(session.id());
}

void Client::Impl::machine_event(const MachineEvent& event) {
  if (event.machine != kCoordination) return;
  const auto decoded = machine::decode_event(event.bytes);
  if (!decoded.ok()) return;
  std::visit(
      [&](const auto& what) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(what)>, std::monostate>) machine_event(event, what);
      },
      *decoded);
}

void Client::Impl::machine_event(const MachineEvent&, const machine::SessionEnded& end) {
  if (end.reason == machine::SessionEnded::Reason::Expired) statistics_.expired();
  ended(end.session);
}

void Client::Impl::machine_event(const MachineEvent& event, const coordination::Change& change) {
  observers_.changed(change, event.index);
}

// Another process has it now: nothing is left to close here. What was said before this client took it over is old.
void Client::Impl::machine_event(const MachineEvent& event, const machine::SessionResumed& resumed) {
  const Session* session = sessions_.find(resumed.session);
  if (session == nullptr || event.index <= session->bound_at) return;
  const TimerGroup binding{resumed.node, resumed.boot, resumed.incarnation, session->ttl()};
  if (binding != session->group) ended(resumed.session);
}

// S-57: lost, and closed by its own holder as soon as it can be, which spares the others the rest of the wait.
void Client::Impl::machine_event(const MachineEvent&, const machine::SessionEnding& ending) {
  if (Session* session = sessions_.find(ending.session)) sessions_.lose(*session, SessionEvent::Ended);
}

// A renewal did not cover a session that it meant. Perhaps its end is near, perhaps it ended or went to another process while
// this replica took over a checkpoint and saw no event: one linearizable look tells.
void Client::Impl::question(SessionId id, Now now) {
  Session* session = sessions_.find(id);
  if (session == nullptr || session->questioned) return;
  session->questioned = true;
  ask_engine({.deadline = now.lagging + 2 * options_.election_timeout},
             [this, state = session->state](const Completion& completion, Now) {
               Session* asked = same_life(state);
               if (asked == nullptr) return;
               asked->questioned = false;
               if (const auto readable_state = readable(completion); readable_state.ok()) look_at(*asked, **readable_state);
             });
}

// A lease stays with its first keeper; another one of its id has another number.
void Client::Impl::look_at(Session& session, const machine::Reads& reads) {
  if (session.lease) {
    const machine::Leases now = reads.lease(session.lease, false, "");
    if (now.leases.empty() || now.leases.front().number != session.id()) ended(session.id());
    return;
  }
  const std::optional<machine::SessionInfo> info = reads.session(session.id());
  if (!info) return ended(session.id());
  const TimerGroup binding{info->node, info->boot, info->incarnation, info->ttl};
  if (binding != session.group) return ended(session.id());
  if (info->ending) sessions_.lose(session, SessionEvent::Ended);
}

void Client::Impl::lose_all(SessionEvent why) {
  std::vector<SessionId> known;
  for (const auto& [id, session] : sessions_.all()) known.push_back(id);
  for (const SessionId id : known) sessions_.lose(*sessions_.find(id), why);
}

// Entries were skipped, and with them the events that tell of ended sessions (docs/decisions/0006).
void Client::Impl::question_all(Now now) {
  for (const auto& [id, session] : sessions_.all()) question(id, now);
}

}  // namespace coordkit
