#include "client/sessions/session_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "client/calls/times.h"
#include "client/locks/lent_delegations.h"

namespace coordkit::client {
namespace {

uint64_t granted_by(const Session& session) {
  const Delegations* const lent = session.state->delegations();
  return lent != nullptr ? lent->granted() : 0;
}

// By default: max(3 x ttl, 10 election timeouts), saturating.
Duration give_up_after(const Session& session, const ClientOptions& options) {
  if (session.extension && session.extension->give_up > Duration::zero()) return session.extension->give_up;
  const Duration ttl = session.ttl();
  const Duration three = ttl > Duration::max() / 3 ? Duration::max() : 3 * ttl;
  return std::max({three, 10 * options.election_timeout, options.give_up_min});
}

}  // namespace

SessionTable::SessionTable(const ClientOptions& options, Deliveries& deliveries)
    : options_(options), deliveries_(deliveries), limits_(options.watch) {}

Duration SessionTable::validity_of(Duration ttl) const { return validity(ttl, options_.rate_error_ppm, options_.slack); }

Session& SessionTable::add(NewSession added, LeadingTime now) {
  const auto handle = records_.add();
  Session& session = records_[handle];
  session.handle = handle;
  session.state = std::move(added.state);
  Session*& slot = sessions_[session.id()];  // only when it has a record
  COORDKIT_CHECK(slot == nullptr);
  slot = &session;
  shortest_interval_ = std::min(shortest_interval_, renewal_interval(session.ttl()));
  session.first_attempt = added.first_attempt;
  session.on_phase = std::move(added.on_phase);
  session.previous_trusts = added.previous_trusts;
  if (added.lease || added.bound_at || added.give_up > Duration::zero()) {
    Session::Extension& extension = session.make_extension();
    extension.lease = added.lease;
    extension.bound_at = added.bound_at;
    extension.give_up = added.give_up;
  }
  const bool confirms = added.reference != LeadingTime::min();
  const LeadingTime deadline = confirms ? later(added.reference, validity_of(session.ttl())) : LeadingTime::min();
  const bool valid = now < deadline;
  session.phase = valid ? SessionPhase::Valid : SessionPhase::Jeopardy;
  session.jeopardy_since = valid ? LeadingTime::max() : now;
  SessionWriter::set(*session.state, session.phase, deadline);
  announce(session);
  if (valid) watch_validity(session);
  await(session);
  return session;
}

Session* SessionTable::find(SessionId id) {
  if (found_ != nullptr && found_->id() == id) return found_;
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found_ = found->second;
}

Session* SessionTable::find(const SessionRef& state) {
  if (found_ != nullptr && found_->state == state) return found_;
  Session* session = find(state->id());
  return session != nullptr && session->state == state ? session : nullptr;
}

Session* SessionTable::find_live(const SessionRef& state) {
  Session* session = find(state);
  return session != nullptr && session->phase != SessionPhase::Lost ? session : nullptr;
}

void SessionTable::erase(SessionId id) {
  const auto found = sessions_.find(id);
  COORDKIT_CHECK(found != sessions_.end() && found->second->phase == SessionPhase::Lost);
  granted_by_gone_ += granted_by(*found->second);
  releases_due_.erase(id);
  found_ = nullptr;
  const auto handle = found->second->handle;
  const Session over = std::move(*found->second);  // destroys user code only after it is removed from here
  sessions_.erase(found);
  records_.remove(handle);
}

uint64_t SessionTable::granted_by_threads() const {
  uint64_t sum = granted_by_gone_;
  for (const auto& [id, session] : sessions_) sum += granted_by(*session);
  return sum;
}

LockStatistics SessionTable::lock_statistics() const {
  LockStatistics out = statistics_.so_far();
  const uint64_t by_threads = granted_by_threads();
  out.grants += by_threads;
  out.local_grants += by_threads;
  return out;
}

void SessionTable::confirm(Session& session, LeadingTime sent, LeadingTime now) {
  const LeadingTime deadline = later(sent, validity_of(session.ttl()));
  if (deadline <= now || session.phase == SessionPhase::Lost) return;
  if (session.previous_trusts) {
    LeadingTime& meanwhile = session.make_extension().confirmed_meanwhile;
    meanwhile = std::max(meanwhile, deadline);
    return;
  }
  SessionWriter::set_deadline(*session.state, std::max(session.deadline(), deadline));
  raise(session, SessionEvent::RenewalConfirmed, now);
  const SessionPhase published = SessionWriter::set(*session.state, session.phase, session.deadline());
  if (published == SessionPhase::Jeopardy && session.phase == SessionPhase::Valid) {
    announce(session);  // the watch saw the previous deadline pass at this very moment, and announced it
    watch_validity(session);
  }
  await(session);
}

// S-45: renewals confirmed in the meantime count now, and releases may be posted.
void SessionTable::previous_over(Session& session, LeadingTime now) {
  session.previous_trusts = false;
  if (session.phase == SessionPhase::Lost) return;
  if (const LeadingTime deadline = session.make_extension().confirmed_meanwhile; deadline > now) {
    SessionWriter::set_deadline(*session.state, deadline);
    raise(session, SessionEvent::RenewalConfirmed, now);
    SessionWriter::set(*session.state, session.phase, deadline);
  }
  if (!session.releases.all_posted()) releases_due_.insert(session.id());
  await(session);
}

void SessionTable::lose(Session& session, SessionEvent why) {
  if (why == SessionEvent::Closed) SessionWriter::close(*session.state);
  raise(session, why, LeadingTime::max());
}

HoldRef SessionTable::grant(Session& session, std::string_view name, std::string_view owner_tag, Token token, Index since,
                            LeadingTime until, HoldTerms terms) {
  HoldRef hold = added(session, make_ref<HoldState>(session.state, name, owner_tag, token, since, until, std::move(terms)));
  if (session.state->phase() != SessionPhase::Valid) stop(hold);
  return hold;
}

HoldRef SessionTable::adopt(Session& session, std::string_view name, std::string_view owner_tag, Token token, Index since,
                            HoldTerms terms) {
  const LeadingTime until = LeadingTime::max();
  return added(session, make_ref<HoldState>(session.state, name, owner_tag, token, since, until, std::move(terms)));
}

HoldRef SessionTable::replace(Session& session, const HoldRef& former, Token token, Index since, HoldTerms terms) {
  auto fresh =
      make_ref<HoldState>(session.state, former->name(), former->owner_tag(), token, since, former->until(), std::move(terms));
  fresh->take_listeners(*former);
  forget(session, former);
  former->invalidate();  // not lost: it lives on
  const HoldRef hold = added(session, std::move(fresh));
  if (session.state->phase() != SessionPhase::Valid) stop(hold);
  return hold;
}

HoldRef SessionTable::added(Session& session, HoldRef hold) {
  {
    const auto guarded = guard();
    session.holds.add(hold);
  }
  limits_.add(hold);
  return hold;
}

void SessionTable::lose(Session& session, Token token) {
  while (const HoldRef* hold = session.holds.find(token)) lose(session, HoldRef(*hold));
}

void SessionTable::lose(Session& session, const HoldRef& hold) {
  SessionWriter::lose(*hold);
  stop(hold);
  forget(session, hold);
}

bool SessionTable::forget(Session& session, const HoldRef& hold) {
  {
    const auto guarded = guard();
    if (!session.holds.remove(hold)) return false;
  }
  limits_.remove(hold);
  return true;
}

void SessionTable::run_timers(LeadingTime now) {
  if (now < next_timer_) return;
  next_timer_ = LeadingTime::max();
  looks_ += sessions_.size();
  for (auto& [id, session] : sessions_) {
    const bool over = session->deadline() <= now;
    if (session->phase == SessionPhase::Valid && over) raise(*session, SessionEvent::DeadlineReached, now);
    if (session->phase == SessionPhase::Jeopardy && timer_of(*session) <= now) raise(*session, SessionEvent::GivenUp, now);
    await(*session);
  }
}

void SessionTable::gap(Duration late, uint64_t next_attempt, LeadingTime now) {
  if (late <= shortest_interval_) return;  // true for almost every turn that a timer woke
  looks_ += sessions_.size();
  for (auto& [id, session] : sessions_) {
    if (session->phase == SessionPhase::Lost || late <= renewal_interval(session->ttl())) continue;
    SessionWriter::set_deadline(*session->state, LeadingTime::min());
    if (session->extension) session->extension->confirmed_meanwhile = LeadingTime::min();
    session->first_attempt = next_attempt;
    // After a step back the old reading is meaningless: jeopardy is counted from the new timeline.
    if (session->jeopardy_since > now) session->jeopardy_since = now;
    raise(*session, SessionEvent::Gap, now);
    SessionWriter::set(*session->state, session->phase, LeadingTime::min());
    await(*session);
  }
}

// For a session that the watch has moved to jeopardy and announced.
void SessionTable::catch_up(Session& session, LeadingTime now) {
  if (session.phase != SessionPhase::Valid || session.state->phase() != SessionPhase::Jeopardy) return;
  session.phase = SessionPhase::Jeopardy;
  session.jeopardy_since = now;
}

// The watch announces at once. So it gets the session only after everything announced about it here, and only while it is
// valid.
void SessionTable::watch_validity(const Session& session) {
  if (options_.watch == nullptr) return;
  deliveries_.answer([this, state = session.state] {
    Session* const watched = find(state);
    if (watched != nullptr && watched->phase == SessionPhase::Valid) options_.watch->valid(*watched);
  });
}

// Changes the phase once, with all its local consequences.
void SessionTable::raise(Session& session, SessionEvent event, LeadingTime now) {
  catch_up(session, now);
  const SessionPhase next = next_phase(session.phase, event);
  if (next == session.phase) return;
  session.phase = next;
  session.jeopardy_since = next == SessionPhase::Jeopardy ? now : LeadingTime::max();
  const SessionPhase published = SessionWriter::set(*session.state, next, session.deadline());
  const bool told = next == SessionPhase::Jeopardy && published == next;  // by the watch
  if (told) return;
  if (next != SessionPhase::Valid && options_.watch != nullptr) options_.watch->lost(session);
  Delegations* const lent = session.state->delegations();
  if (next != SessionPhase::Valid) {
    session.holds.each([this](const HoldRef& hold) { stop(hold); });
    if (lent != nullptr) std::ranges::for_each(lent->in_use(), [this](const HoldRef& hold) { stop(hold); });
  }
  if (next == SessionPhase::Lost) {
    const auto lose = [this](const HoldRef& hold) {
      SessionWriter::lose(*hold);
      limits_.remove(hold);
    };
    if (lent != nullptr) std::ranges::for_each(lent->clear(), lose);
    session.holds.each(lose);
    session.holds.clear();
    lost_.push_back(session.id());
  }
  announce(session);
  if (next == SessionPhase::Valid) watch_validity(session);
}

void SessionTable::announce(Session& session) {
  if (session.phase == SessionPhase::Lost) deliveries_.announce([state = session.state] { state->report_lost(); });
  if (!session.on_phase) return;
  deliveries_.announce([tell = session.on_phase, phase = session.phase] { tell->run(phase); });
}

void SessionTable::stop(const HoldRef& hold) {
  if (hold->reported_invalid()) return;  // exact when user code runs inline; a repeat has no effect anyway
  deliveries_.announce([hold] { hold->report_invalid(); });
}

LeadingTime SessionTable::timer_of(const Session& session) const {
  switch (session.phase) {
    case SessionPhase::Valid: return session.deadline();
    case SessionPhase::Jeopardy:
      if (session.previous_trusts) return LeadingTime::max();
      return later(session.jeopardy_since, give_up_after(session, options_));
    case SessionPhase::Lost: return LeadingTime::max();
  }
  return LeadingTime::max();
}

}  // namespace coordkit::client
