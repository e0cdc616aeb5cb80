// Sticky locks at their node (docs/semantics.md S-58): a lock that was acquired stickily stays with its session after the
// release, and is granted to the session's owners here, first come first served, until somebody else asks for it in the log.
//
// An acquire of such a name joins the line of the name. Whoever is first in line gets the lock from the delegation if the
// session has it; otherwise its acquire goes to the log like any other, and the rest of the line waits behind it.
#include <algorithm>

#include "base/mutant.h"
#include "client/impl.h"
#include "client/times.h"
#include "coordkit/error.h"

namespace coordkit {

using client::Line;

namespace {

absl::Status already_held(const std::string& name, Token token) {
  return client::status_of({.code = machine::ResultCode::AlreadyHeld, .token = token}, name);
}

absl::Status status_of(machine::ResultCode code, const std::string& name) { return client::status_of({.code = code}, name); }

}  // namespace

// ---- into the line

// True: the line sees to it, or it was answered. False: it goes to the log by itself.
bool Client::Impl::join(CallId id, Session& session, machine::Acquire& body, Now now) {
  const auto found = session.lines.find(body.name);
  if (found == session.lines.end() && body.block == 0) return false;
  if (found != session.lines.end()) {
    if (absl::Status own = own_claim(session, found->second, body.owner_tag, body.name); !own.ok()) {
      fail(id, std::move(own));
      return true;
    }
    const bool local = body.mode == LockMode::Exclusive && (body.flags & machine::kReentrant) == 0;
    if (!local) return stand_aside(session, body.name, now);
    if (found->second.lock == nullptr && body.block == 0) return false;
    if (found->second.lock != nullptr && body.delay > found->second.delay) ask(found->second, now);
  }
  Line& line = session.lines[body.name];
  if (body.wait.kind == machine::Wait::Kind::None && !may_try(session, line, now)) {
    not_granted(id, {.code = machine::ResultCode::Held}, body.name);
    return true;
  }
  const std::string name = body.name;
  const LaggingTime until =
      body.wait.kind == machine::Wait::Kind::Timed ? client::later(now.lagging, body.wait.timeout) : LaggingTime::max();
  find(id)->line = name;
  line.waiting.push_back({id, std::move(body), until});
  if (until != LaggingTime::max()) line_ends_.emplace(until, id);
  serve(session, name, now);
  Call* call = find(id);
  const auto joined = session.lines.find(name);
  if (call != nullptr && !call->flight && joined != session.lines.end() && joined->second.fetching != id) {
    call->waited = true;
    statistics_.queued();
  }
  return true;
}

// Several names at once are a matter of the log, which grants none that this session keeps.
bool Client::Impl::join(CallId id, Session& session, machine::AcquireAll& body, Now now) {
  for (const NamedLock& wanted : body.locks) {
    const auto found = session.lines.find(wanted.name);
    if (found == session.lines.end()) continue;
    if (absl::Status own = own_claim(session, found->second, body.owner_tag, wanted.name); !own.ok()) {
      fail(id, std::move(own));
      return true;
    }
    stand_aside(session, wanted.name, now);
  }
  return false;
}

// S-38, for what the log does not know.
absl::Status Client::Impl::own_claim(const Session& session, const Line& line, const std::string& tag,
                                     const std::string& name) {
  const HoldRef current = line.lock ? session.state->delegations()->look(*line.lock).current : nullptr;
  if (current && current->owner_tag() == tag) return already_held(name, current->token());
  const auto same = [&tag](const Line::Waiting& waiting) { return waiting.body.owner_tag == tag; };
  const bool waits = std::ranges::any_of(line.waiting, same);
  return waits ? status_of(machine::ResultCode::AlreadyWaiting, name) : absl::OkStatus();
}

// Somebody of this session wants the lock in a way that only the log can grant.
bool Client::Impl::stand_aside(Session& session, const std::string& name, Now now) {
  ask(session.lines.at(name), now);
  serve(session, name, now);
  return false;
}

// A try is worth its while if nobody is before it here.
bool Client::Impl::may_try(const Session& session, const Line& line, Now now) {
  if (!line.waiting.empty() || line.fetching || line.refilling || line.asked) return false;
  if (!line.lock) return true;
  return session.state->delegations()->look(*line.lock).current == nullptr && session.state->valid(now.leading);
}

// The call has ended, in whatever way.
void Client::Impl::leave_line(CallId id, const Call& call) {
  Session* session = same_life(call.session);
  if (session == nullptr) return;
  const auto found = session->lines.find(call.line);
  if (found == session->lines.end()) return;
  Line& line = found->second;
  std::erase_if(line.waiting, [&](const Line::Waiting& waiting) {
    if (waiting.call != id) return false;
    line_ends_.erase({waiting.until, id});
    return true;
  });
  if (line.fetching == id && !call.flight) line.fetching = CallId();  // it never left
  due_lines_.emplace(session->id(), call.line);
}

void Client::Impl::end_line_waits(LaggingTime now) {
  while (!line_ends_.empty() && line_ends_.begin()->first <= now) {
    const CallId id = line_ends_.begin()->second;
    line_ends_.erase(line_ends_.begin());
    not_granted(id, {.code = machine::ResultCode::WaitTimeout}, find(id)->line);
  }
}

// ---- the line moves on

void Client::Impl::serve_lines(Now now) {
  for (const SessionId id : std::exchange(stalled_, {})) {
    Session* session = sessions_.find(id);
    if (session == nullptr) continue;
    for (const auto& [name, line] : session->lines) due_lines_.emplace(id, name);
  }
  while (!due_lines_.empty()) {
    const auto [id, name] = *due_lines_.begin();
    due_lines_.erase(due_lines_.begin());
    if (Session* session = sessions_.find(id)) serve(*session, name, now);
  }
}

// Does what there is to do for a line. A thread that releases meanwhile either finds it closed and says so, or has released
// before the look.
void Client::Impl::serve(Session& session, const std::string& name, Now now) {
  for (;;) {
    const auto found = session.lines.find(name);
    if (found == session.lines.end() || session.phase == SessionPhase::Lost) return;
    Line& line = found->second;
    if (!line.lock) {
      if (line.fetching) return;
      if (!line.waiting.empty()) return fetch(line, now);
      session.lines.erase(found);
      return;
    }
    Delegations& all = *session.state->delegations();
    all.set_open(*line.lock, !line.asked && line.waiting.empty() && !line.refilling);
    const Delegations::Look look = all.look(*line.lock);
    if (line.refilling || (look.current && !(line.asked && mutant(Mutant::GivenBackInUse)))) return;
    const bool valid = session.state->valid(now.leading) || mutant(Mutant::LocalGrantsWhileLost);
    if (line.asked && !session.settling && (!valid || look.used_up || !prefers_line(line, now))) {
      give_back_delegation(session, name);
      continue;
    }
    if (line.waiting.empty()) return;
    if (!valid) {
      stalled_.insert(session.id());
      return;
    }
    if (look.used_up) return refill(session, name);
    grant_locally(session, line, now);
  }
}

// S-58: who was in line when somebody else asked is served before it is given back, within limits.
bool Client::Impl::prefers_line(const Line& line, Now now) {
  const bool wanted = !line.waiting.empty() && line.waiting.front().body.delay <= line.delay;
  return wanted && ((line.grants_left > 0 && now.lagging < line.served_until) || mutant(Mutant::LineNeverEnds));
}

void Client::Impl::ask(Line& line, Now now) {
  if (line.asked || line.lock == nullptr || mutant(Mutant::AskIgnored)) return;
  line.asked = true;
  line.grants_left = std::min<size_t>(line.waiting.size(), options_.sticky.grants_max);
  line.served_until = client::later(now.lagging, options_.sticky.time_max);
}

void Client::Impl::grant_locally(Session& session, Line& line, Now now) {
  const Line::Waiting next = std::move(line.waiting.front());
  line.waiting.pop_front();
  line_ends_.erase({next.until, next.call});
  if (line.asked) line.grants_left -= std::min<size_t>(line.grants_left, 1);
  statistics_.granted_locally();
  hand_over(session, line, next.call, next.body.owner_tag, now);
}

void Client::Impl::hand_over(Session& session, Line& line, CallId id, const std::string& owner_tag, Now now) {
  Call& call = *find(id);
  const LeadingTime until = call.max_hold > Duration::zero() ? client::later(now.leading, call.max_hold) : LeadingTime::max();
  HoldRef hold = session.state->delegations()->grant(session.state, line.lock, owner_tag, until);
  limit_hold(hold);
  if (until != LeadingTime::max() && options_.watch != nullptr) options_.watch->granted(hold);
  if (session.state->phase() != SessionPhase::Valid) sessions_.stop(hold);
  count_grant(id, now);
  answer<HoldRef>(id, std::move(hold));
}

// ---- the log

void Client::Impl::fetch(Line& line, Now now) {
  const Line::Waiting& first = line.waiting.front();
  const CallId id = first.call;
  machine::Acquire body = first.body;
  line_ends_.erase({first.until, id});
  if (first.until != LaggingTime::max()) {
    body.wait.timeout = first.until - now.lagging;
    if (body.wait.timeout <= Duration::zero()) {
      not_granted(id, {.code = machine::ResultCode::WaitTimeout}, body.name);  // the line goes on in serve_lines()
      return;
    }
  }
  line.fetching = id;
  begin_acquire(id, std::move(body));
}

void Client::Impl::delegated(Session& session, const Flight& flight, const machine::Result& result, Now now) {
  const auto found = session.lines.find(flight.name);
  const bool wanted = find(flight.call) != nullptr;
  const bool expected = found != session.lines.end() && found->second.lock == nullptr;
  if (!expected || (!wanted && found->second.waiting.empty())) {
    give_back(session, flight.name, result.token, /*counted=*/false);
    fail(flight.call, make_error(Reason::Lost, "the session ended while the acquire was under way; open a new one"));
    return;
  }
  Line& line = found->second;
  line.token = result.token;
  line.delay = flight.delay;
  line.lock = session.state->delegations()->add({.name = flight.name,
                                                 .token = result.token,
                                                 .since = result.since,
                                                 .first = result.token,
                                                 .last = Token(result.token.value() + flight.block - 1),
                                                 .delay = flight.delay});
  if (wanted) hand_over(session, line, flight.call, flight.owner_tag, now);
  if (asked_in_log(session, flight.name, line.token)) ask(line, now);
}

// Its acquire has come to an end in the log: the next one in line may begin.
void Client::Impl::fetch_over(const Flight& flight) {
  Session* session = flight.in_line ? same_life(flight.session) : nullptr;
  if (session == nullptr) return;
  const auto found = session->lines.find(flight.name);
  if (found == session->lines.end() || found->second.fetching != flight.call) return;
  found->second.fetching = CallId();
  due_lines_.emplace(session->id(), flight.name);
}

void Client::Impl::give_back_delegation(Session& session, const std::string& name) {
  Line& line = session.lines.at(name);
  session.state->delegations()->remove(line.lock);
  line.lock = nullptr;
  line.asked = false;
  give_back(session, name, line.token, /*counted=*/false);
}

// One entry for the next so many grants. If nobody can say what became of it, the lock is given back and fetched anew.
void Client::Impl::refill(Session& session, const std::string& name) {
  Line& line = session.lines.at(name);
  line.refilling = true;
  const machine::RefillBlock body{session.id(), name, line.token};
  submit_for(session, {.body = body}, LaggingTime::max(), Urgency::Normal,
             [this, state = session.state, name](const Completion& completion, Now) {
               Session* owner = same_life(state);
               if (owner == nullptr || owner->phase == SessionPhase::Lost) return;
               Line& refilled = owner->lines.at(name);
               refilled.refilling = false;
               due_lines_.emplace(owner->id(), name);
               const auto result = client::result_of(completion);
               if (result.ok() && result->code == machine::ResultCode::Granted) {
                 state->delegations()->refill(*refilled.lock, result->token);
               } else {
                 refilled.asked = true;
                 refilled.grants_left = 0;
               }
             });
}

// ---- what the log says

// By this replica's own state: somebody may have asked before it was known here that there is something to ask for.
bool Client::Impl::asked_in_log(const Session& session, const std::string& name, Token token) const {
  const machine::Reads* state = reads();
  const machine::Holders held = state ? state->holders_of(name) : machine::Holders();
  if (held.holders.empty()) return false;
  const machine::HolderInfo& holder = held.holders.front();
  return holder.session == session.id() && holder.token == token && holder.asked;
}

void Client::Impl::machine_event(const MachineEvent&, const machine::DelegationAsked& asked) {
  Session* session = sessions_.find(asked.session);
  if (session == nullptr) return;
  const auto found = session->lines.find(asked.name);
  if (found == session->lines.end() || found->second.token != asked.token) return;
  ask(found->second, {last_lagging_, last_leading_});
  due_lines_.emplace(asked.session, asked.name);
}

// Entries were skipped, and with them what was asked.
void Client::Impl::look_for_asked(Now now) {
  for (const auto& [id, session] : sessions_.all()) {
    for (auto& [name, line] : session->lines) {
      if (!line.lock || !asked_in_log(*session, name, line.token)) continue;
      ask(line, now);
      due_lines_.emplace(id, name);
    }
  }
}

// A delegation that a resumed session brought along: nobody knows which owner of the former process had it, so it is handed to
// whoever resumed, under the new token.
HoldRef Client::Impl::adopt_delegation(Session& session, const machine::HeldLock& lock) {
  Line& line = session.lines[lock.name];
  line.token = lock.token;
  line.asked = lock.asked;
  line.lock = session.state->delegations()->add(
      {.name = lock.name, .token = lock.token, .since = lock.since, .first = lock.token, .last = lock.last});
  due_lines_.emplace(session.id(), lock.name);
  return session.state->delegations()->grant(session.state, line.lock, lock.owner_tag, LeadingTime::max());
}

// ---- releases

// False: it was over before.
bool Client::Impl::release_locally(Session& session, const HoldRef& hold) {
  if (session.state->delegations()->release(*hold) == Delegations::Released::NotCurrent) return false;
  released_locally(hold);
  return true;
}

// This hold alone is over: its time is, or the log refuses its token.
void Client::Impl::lose_locally(Session& session, const HoldRef& hold) {
  SessionWriter::lose(*hold);
  sessions_.stop(hold);
  release_locally(session, hold);
}

void Client::Impl::released_locally(const HoldRef& hold) {
  Session* session = same_life(hold->session());
  if (session == nullptr) return;
  unlimit_hold(hold);
  if (hold->until() != LeadingTime::max() && options_.watch != nullptr) options_.watch->gone(*hold);
  due_lines_.emplace(session->id(), hold->name());
}

}  // namespace coordkit
