#include "client/locks/sticky_lines.h"

#include <algorithm>

#include "client/calls/answers.h"
#include "client/calls/times.h"
#include "client/locks/lock_refusal.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

// Finds or creates the line.
Line& line_of(Session& session, const std::string& name) { return session.make_extension().lines[name]; }

absl::Status already_held(const std::string& name, Token token) {
  return status_of({.code = machine::ResultCode::AlreadyHeld, .token = token}, name);
}

}  // namespace

// ---- into the line

bool StickyLines::join(CallId id, Session& session, machine::Acquire& body, Now now) {
  Line* const line = session.line(body.name);
  if (line == nullptr && body.block == 0) return false;
  if (line != nullptr) {
    if (absl::Status own = own_claim(session, *line, body.owner_tag, body.name); !own.ok()) {
      calls_.fail(id, std::move(own));
      return true;
    }
    const bool local = body.mode == LockMode::Exclusive && (body.flags & machine::kReentrant) == 0;
    if (!local) {
      stand_aside(session, body.name, now);
      return false;
    }
    if (line->lock == nullptr && body.block == 0) return false;
    if (line->lock != nullptr && body.delay > line->delay) ask(*line, now);
  }
  if (body.wait.kind == machine::Wait::Kind::None && !may_try(session, line_of(session, body.name), now)) {
    refuse_lock(calls_, table_.statistics(), id, {.code = machine::ResultCode::Held}, body.name);
    return true;
  }
  enqueue(id, session, body, now);
  return true;
}

void StickyLines::enqueue(CallId id, Session& session, machine::Acquire& body, Now now) {
  const std::string name = body.name;
  const LaggingTime until =
      body.wait.kind == machine::Wait::Kind::Timed ? later(now.lagging, body.wait.timeout) : LaggingTime::max();
  PendingAcquire& acquire = *calls_.find(id)->acquire;
  acquire.set_names(name, {});
  acquire.in_line = true;
  acquire.state = step(acquire.state, AcquireEvent::Joined).next;
  line_of(session, name).waiting.push_back({id, std::move(body), until});
  if (until != LaggingTime::max()) waits_.emplace(until, id);
  serve(session, name, now);
  Call* call = calls_.find(id);
  const Line* const joined = session.line(name);
  if (call != nullptr && call->acquire->state == AcquireState::InLine && joined != nullptr && joined->fetching != id) {
    call->acquire->waited = true;
    table_.statistics().queued();
  }
}

// An acquire of several names at once is left to the log, which grants none that this session keeps.
bool StickyLines::join(CallId id, Session& session, const machine::AcquireAll& body, Now now) {
  for (const NamedLock& wanted : body.locks) {
    const Line* const line = session.line(wanted.name);
    if (line == nullptr) continue;
    if (absl::Status own = own_claim(session, *line, body.owner_tag, wanted.name); !own.ok()) {
      calls_.fail(id, std::move(own));
      return true;
    }
    stand_aside(session, wanted.name, now);
  }
  return false;
}

// S-38, for claims that the log does not know.
absl::Status StickyLines::own_claim(const Session& session, const Line& line, const std::string& tag, const std::string& name) {
  const HoldRef current = line.lock ? session.state->delegations()->look(*line.lock).current : nullptr;
  if (current && current->owner_tag() == tag) return already_held(name, current->token());
  const auto same = [&tag](const Line::Waiting& waiting) { return waiting.body.owner_tag == tag; };
  const bool waits = std::ranges::any_of(line.waiting, same);
  return waits ? status_of({.code = machine::ResultCode::AlreadyWaiting}, name) : absl::OkStatus();
}

// An owner of this session wants the lock in a way that only the log can grant.
void StickyLines::stand_aside(Session& session, const std::string& name, Now now) {
  ask(*session.line(name), now);
  serve(session, name, now);
}

// A try makes sense if no owner is ahead of it here.
bool StickyLines::may_try(const Session& session, const Line& line, Now now) {
  if (!line.waiting.empty() || line.fetching || line.refilling || line.asked) return false;
  if (!line.lock) return true;
  return session.state->delegations()->look(*line.lock).current == nullptr && session.state->valid(now.leading);
}

void StickyLines::leave(Session& session, CallId id, const PendingAcquire& acquire) {
  Line* const left = session.line(acquire.name());
  if (left == nullptr) return;
  Line& line = *left;
  const auto waiting = std::ranges::find(line.waiting, id, &Line::Waiting::call);
  if (waiting != line.waiting.end()) {
    waits_.erase({waiting->until, id});
    line.waiting.erase(waiting);
  }
  if (line.fetching == id && acquire.state == AcquireState::InLine) line.fetching = CallId();  // the acquire was never sent
  due_.emplace(session.id(), acquire.name());
}

void StickyLines::end_waits(LaggingTime now) {
  while (!waits_.empty() && waits_.begin()->first <= now) {
    const CallId id = waits_.begin()->second;
    waits_.erase(waits_.begin());
    refuse_lock(calls_, table_.statistics(), id, {.code = machine::ResultCode::WaitTimeout}, calls_.find(id)->acquire->name());
  }
}

// ---- the line moves on

void StickyLines::wake(SessionId id) {
  const Session* const session = table_.find(id);
  if (session == nullptr || session->extension == nullptr) return;
  for (const auto& [name, line] : session->extension->lines) due_.emplace(id, name);
}

void StickyLines::look_again(Now now) {
  answer_releases(now);
  due_.merge(std::exchange(stalled_, {}));
  served_ = SessionId();
}

// Lines of one session follow each other.
bool StickyLines::serve_next(Now now) {
  if (due_.empty()) return false;
  const auto [id, name] = *due_.begin();
  due_.erase(due_.begin());
  Session* session = table_.find(id);
  if (session == nullptr) return true;
  if (std::exchange(served_, id) != id) ask_for_surplus(*session, now);
  serve(*session, name, now);
  return true;
}

// Only so many idle locks are kept here. The others are released as if another session wanted them.
void StickyLines::ask_for_surplus(Session& session, Now now) {
  Delegations* const lent = session.state->delegations();
  if (lent == nullptr) return;
  for (const std::string& name : lent->surplus()) {
    Line& line = *session.line(name);
    if (line.asked) continue;  // it is released as soon as it may be
    ask(line, now);
    due_.emplace(session.id(), name);
  }
}

// Does the pending work of a line. A thread that releases meanwhile either finds the line closed and reports the release, or
// has released before the check.
void StickyLines::serve(Session& session, const std::string& name, Now now) {
  for (;;) {
    Line* const served = session.line(name);
    if (served == nullptr || session.phase == SessionPhase::Lost) return;
    Line& line = *served;
    if (!line.lock) {
      if (line.fetching) return;
      if (!line.waiting.empty()) return fetch(line, now);
      session.extension->lines.erase(name);
      return;
    }
    Delegations& all = *session.state->delegations();
    all.set_open(*line.lock, !line.asked && line.waiting.empty() && !line.refilling);
    const Delegations::Look look = all.look(*line.lock);
    if (line.refilling || look.current) return;
    const bool valid = session.state->valid(now.leading);
    if (line.asked && !session.previous_trusts && (!valid || look.used_up || !prefers_line(line, now))) {
      give_back(session, name);
      continue;
    }
    if (line.waiting.empty()) return;
    if (!valid) {
      stalled_.emplace(session.id(), name);
      return;
    }
    if (look.used_up) return refill(session, name);
    grant_locally(session, line, now);
  }
}

// S-58: owners in line when another session asked are served before the lock is given back, within limits.
bool StickyLines::prefers_line(const Line& line, Now now) {
  const bool wanted = !line.waiting.empty() && line.waiting.front().body.delay <= line.delay;
  return wanted && line.grants_left > 0 && now.lagging < line.served_until;
}

void StickyLines::ask(Line& line, Now now) {
  if (line.asked || line.lock == nullptr) return;
  line.asked = true;
  line.grants_left = std::min<size_t>(line.waiting.size(), options_.sticky.grants_max);
  line.served_until = later(now.lagging, options_.sticky.time_max);
}

void StickyLines::grant_locally(Session& session, Line& line, Now now) {
  const Line::Waiting next = std::move(line.waiting.front());
  line.waiting.pop_front();
  waits_.erase({next.until, next.call});
  if (line.asked) line.grants_left -= std::min<size_t>(line.grants_left, 1);
  table_.statistics().granted_locally();
  hand_over(session, line, next.call, next.body.owner_tag, now);
}

void StickyLines::hand_over(Session& session, Line& line, CallId id, std::string_view owner_tag, Now now) {
  const PendingAcquire& call = *calls_.find(id)->acquire;
  const LeadingTime until = call.max_hold() > Duration::zero() ? later(now.leading, call.max_hold()) : LeadingTime::max();
  HoldRef hold = session.state->delegations()->grant(session.state, line.lock, owner_tag, until);
  table_.limits().add(hold);
  if (session.state->phase() != SessionPhase::Valid) table_.stop(hold);
  table_.statistics().granted(call.time_in_line(now.lagging));
  calls_.answer<HoldRef>(id, std::move(hold));
}

// ---- the log

void StickyLines::fetch(Line& line, Now now) {
  const Line::Waiting& first = line.waiting.front();
  const CallId id = first.call;
  machine::Acquire body = first.body;
  waits_.erase({first.until, id});
  if (first.until != LaggingTime::max()) {
    body.wait.timeout = first.until - now.lagging;
    if (body.wait.timeout <= Duration::zero()) {
      refuse_lock(calls_, table_.statistics(), id, {.code = machine::ResultCode::WaitTimeout}, body.name);
      return;  // the line continues in serve_next()
    }
  }
  fetches_.push_back({id, std::move(body)});
  line.fetching = id;
}

std::optional<StickyLines::Fetch> StickyLines::take_fetch() {
  if (fetches_.empty()) return std::nullopt;
  std::optional<Fetch> first(std::move(fetches_.front()));
  fetches_.erase(fetches_.begin());
  return first;
}

void StickyLines::delegated(Session& session, const PendingAcquire& acquire, const machine::Result& result, Now now) {
  Line* const found = session.line(acquire.name());
  const bool wanted = calls_.find(acquire.call) != nullptr;
  const bool expected = found != nullptr && found->lock == nullptr;
  if (!expected || (!wanted && found->waiting.empty())) {
    commands_.give_back(session, std::string(acquire.name()), result.token, /*counted=*/false);
    calls_.fail(acquire.call, lost_while_acquiring());
    return;
  }
  Line& line = *found;
  line.token = result.token;
  line.delay = acquire.extension->delay;
  line.lock = SessionWriter::delegations(*session.state, options_.sticky.idle_max)
                  .add({.name = std::string(acquire.name()),
                        .token = result.token,
                        .since = result.since,
                        .first = result.token,
                        .last = Token(result.token.value() + acquire.extension->block - 1),
                        .delay = acquire.extension->delay});
  lent_.add(acquire.name(), line.lock);
  if (wanted) hand_over(session, line, acquire.call, acquire.owner_tag(), now);
  if (asked_in_log(session, std::string(acquire.name()), line.token)) ask(line, now);
}

// The next acquire in line may begin.
void StickyLines::fetched(const PendingAcquire& acquire) {
  Session* session = acquire.in_line ? table_.find(acquire.session) : nullptr;
  if (session == nullptr) return;
  Line* const line = session->line(acquire.name());
  if (line == nullptr || line->fetching != acquire.call) return;
  line->fetching = CallId();
  due_.emplace(session->id(), acquire.name());
}

void StickyLines::give_back(Session& session, const std::string& name) {
  Line& line = *session.line(name);
  session.state->delegations()->remove(line.lock);
  DelegationRef lent = std::exchange(line.lock, nullptr);
  line.asked = false;
  commands_.give_back(session, std::string(name), line.token, /*counted=*/false).lent = std::move(lent);
}

// Posts one entry for the next batch of grants. If its outcome stays unknown, the lock is released and fetched again.
void StickyLines::refill(Session& session, const std::string& name) {
  Line& line = *session.line(name);
  line.refilling = true;
  const machine::RefillBlock body{session.id(), name, line.token};
  commands_.submit(session, {.body = body}, LaggingTime::max(), Urgency::Normal,
                   [this, state = session.state, name](const Completion&, const SessionCommands::Result& result, Now) {
                     Session* owner = table_.find_live(state);
                     if (owner == nullptr) return;
                     Line& refilled = *owner->line(name);
                     refilled.refilling = false;
                     due_.emplace(owner->id(), name);
                     if (result.ok() && result->code == machine::ResultCode::Granted) {
                       state->delegations()->refill(*refilled.lock, result->token);
                     } else {
                       refilled.asked = true;
                       refilled.grants_left = 0;
                     }
                   });
}

// ---- reports of the log

// Judged by this replica's own state: the request may have come before this client knew of the delegation.
bool StickyLines::asked_in_log(const Session& session, const std::string& name, Token token) const {
  const machine::Reads* state = requests_.reads();
  const machine::Holders held = state ? state->holders_of(name) : machine::Holders();
  if (held.holders.empty()) return false;
  const machine::HeldLock& holder = held.holders.front();
  return holder.session == session.id() && holder.token == token && holder.asked;
}

void StickyLines::asked(const machine::DelegationAsked& asked, Now now) {
  Session* session = table_.find(asked.session);
  if (session == nullptr) return;
  Line* const line = session->line(asked.name);
  if (line == nullptr || line->token != asked.token) return;
  ask(*line, now);
  due_.emplace(asked.session, asked.name);
}

void StickyLines::look_for_asked(Now now) {
  for (const auto& [id, session] : table_.all()) {
    if (session->extension == nullptr) continue;
    for (auto& [name, line] : session->extension->lines) {
      if (!line.lock || !asked_in_log(*session, name, line.token)) continue;
      ask(line, now);
      due_.emplace(id, name);
    }
  }
}

// Takes a delegation that a resumed session brought along. The owner in the previous process that had it is unknown. So the
// caller of the resume gets it, under the new token. Where the state is elsewhere it is given back after that hold, as if it
// was asked for.
HoldRef StickyLines::adopt(Session& session, const machine::HeldLock& lock) {
  Line& line = line_of(session, lock.name);
  line.token = lock.token;
  line.asked = lock.asked || requests_.state_is_elsewhere();
  Delegations& lent = SessionWriter::delegations(*session.state, options_.sticky.idle_max);
  line.lock = lent.add({.name = lock.name, .token = lock.token, .since = lock.since, .first = lock.token, .last = lock.last});
  lent_.add(lock.name, line.lock);
  due_.emplace(session.id(), lock.name);
  return lent.grant(session.state, line.lock, lock.owner_tag, LeadingTime::max());
}

// ---- local holds

// A process that slept past its deadline knows neither whether its session lives nor whether another one has had the lock.
CallId StickyLines::release(Session& session, const HoldRef& hold, DoneCallback&& done, CallDeadline deadline) {
  if (!release(session, hold)) return calls_.refuse(std::move(done), released_or_lost(*hold));
  const CallId id =
      calls_.enter(std::move(done), OnAbandon::Persist, deadline, [this, of = session.state](CallId call, Now now) {
        if (!answer_release(call, of, now)) in_doubt_.emplace_back(call, of);
      });
  if (Call* call = calls_.find(id)) call->submitted = true;  // the hold is over here, whatever becomes of the caller
  return id;
}

// False: the session may end in either way.
bool StickyLines::answer_release(CallId id, const SessionRef& of, Now now) {
  if (calls_.find(id) == nullptr) return true;
  if (table_.find_live(of) == nullptr) return calls_.answer_done(id, hold_lost());
  return of->valid(now.leading) && calls_.answer_done(id, absl::OkStatus());
}

void StickyLines::answer_releases(Now now) {
  std::erase_if(in_doubt_, [&](const auto& release) { return answer_release(release.first, release.second, now); });
}

bool StickyLines::release(Session& session, const HoldRef& hold) {
  if (session.state->delegations()->release(*hold) == Delegations::Released::NotCurrent) return false;
  released(hold);
  return true;
}

void StickyLines::lose(Session& session, const HoldRef& hold) {
  SessionWriter::lose(*hold);
  table_.stop(hold);
  release(session, hold);
}

void StickyLines::released(const HoldRef& hold) {
  Session* session = table_.find(hold->session());
  if (session == nullptr) return;
  table_.limits().remove(hold);
  due_.emplace(session->id(), hold->name());
}

void StickyLines::clear() {
  waits_.clear();
  fetches_.clear();
  due_.clear();
  stalled_.clear();
  in_doubt_.clear();
}

}  // namespace coordkit::client
