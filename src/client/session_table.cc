#include "client/session_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "client/times.h"

namespace coordkit::client {
namespace {

// Default give-up limit: max(3 x ttl, 10 election timeouts), saturating.
Duration give_up_after(Duration ttl, const ClientOptions& options) {
  const Duration three = ttl > Duration::max() / 3 ? Duration::max() : 3 * ttl;
  return std::max({three, 10 * options.election_timeout, options.give_up_min});
}

}  // namespace

SessionTable::SessionTable(const ClientOptions& options, Deliveries& deliveries) : options_(options), deliveries_(deliveries) {}

Duration SessionTable::validity_of(Duration ttl) const { return validity(ttl, options_.rate_error_ppm, options_.slack); }

Session& SessionTable::add(SessionRef state, TimerGroup group, LeadingTime reference, uint64_t first_attempt,
                           std::shared_ptr<absl::AnyInvocable<void(SessionPhase)>> on_phase, LeadingTime now) {
  auto& slot = sessions_[state->id()];
  COORDKIT_CHECK(slot == nullptr);
  slot = std::make_unique<Session>();
  Session& session = *slot;
  session.state = std::move(state);
  session.group = group;
  session.first_attempt = first_attempt;
  session.on_phase = std::move(on_phase);
  if (reference != LeadingTime::min()) session.deadline = later(reference, validity_of(session.ttl()));
  const bool valid = now < session.deadline;
  session.phase = valid ? SessionPhase::Valid : SessionPhase::Jeopardy;
  session.jeopardy_since = valid ? LeadingTime::max() : now;
  SessionWriter::set(*session.state, session.phase, session.deadline);
  announce(session);
  await(session);
  return session;
}

Session* SessionTable::find(SessionId id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void SessionTable::erase(SessionId id) {
  const auto found = sessions_.find(id);
  COORDKIT_CHECK(found != sessions_.end() && found->second->phase == SessionPhase::Lost);
  sessions_.erase(found);
}

void SessionTable::confirm(Session& session, LeadingTime sent, LeadingTime now) {
  const LeadingTime deadline = later(mutant(Mutant::DeadlineFromReceipt) ? now : sent, validity_of(session.ttl()));
  if (deadline <= now || session.phase == SessionPhase::Lost) return;
  session.deadline = std::max(session.deadline, deadline);
  raise(session, SessionEvent::RenewalConfirmed, now);
  SessionWriter::set(*session.state, session.phase, session.deadline);
  await(session);
}

void SessionTable::lose(Session& session, SessionEvent why) {
  if (why == SessionEvent::Closed) SessionWriter::close(*session.state);
  raise(session, why, LeadingTime::max());
}

HoldRef SessionTable::grant(Session& session, std::string name, std::string owner_tag, Token token, Index since,
                            HoldTerms terms) {
  auto hold = std::make_shared<HoldState>(session.state, std::move(name), std::move(owner_tag), token, since, std::move(terms));
  session.holds.emplace(token, hold);
  if (session.phase != SessionPhase::Valid) stop(hold);
  return hold;
}

void SessionTable::lose(Session& session, Token token) {
  const auto [first, last] = session.holds.equal_range(token);
  for (auto hold = first; hold != last; ++hold) {
    SessionWriter::lose(*hold->second);
    stop(hold->second);
  }
  session.holds.erase(first, last);
}

bool SessionTable::holds(const Session& session, const HoldRef& hold) {
  const auto [first, last] = session.holds.equal_range(hold->token());
  return std::any_of(first, last, [&hold](const auto& each) { return each.second == hold; });
}

void SessionTable::forget(Session& session, const HoldRef& hold) {
  const auto [first, last] = session.holds.equal_range(hold->token());
  const auto found = std::find_if(first, last, [&hold](const auto& each) { return each.second == hold; });
  if (found != last) session.holds.erase(found);
}

void SessionTable::run_timers(LeadingTime now) {
  if (now < next_timer_) return;
  next_timer_ = LeadingTime::max();
  for (auto& [id, session] : sessions_) {
    const bool over = session->deadline <= now && !mutant(Mutant::DeadlineNotTold);
    if (session->phase == SessionPhase::Valid && over) raise(*session, SessionEvent::DeadlineReached, now);
    if (session->phase == SessionPhase::Jeopardy && timer_of(*session) <= now) raise(*session, SessionEvent::GivenUp, now);
    await(*session);
  }
}

void SessionTable::gap(Duration late, uint64_t next_attempt, LeadingTime now) {
  for (auto& [id, session] : sessions_) {
    if (session->phase == SessionPhase::Lost || late <= renewal_interval(session->ttl())) continue;
    session->deadline = LeadingTime::min();
    session->first_attempt = next_attempt;
    // After a step back the old reading means nothing: jeopardy counts anew from the new timeline.
    if (session->jeopardy_since > now) session->jeopardy_since = now;
    raise(*session, SessionEvent::Gap, now);
    SessionWriter::set(*session->state, session->phase, session->deadline);
    await(*session);
  }
}

// One change of phase with all that follows from it locally.
void SessionTable::raise(Session& session, SessionEvent event, LeadingTime now) {
  const SessionPhase next = next_phase(session.phase, event);
  if (next == session.phase) return;
  session.phase = next;
  session.jeopardy_since = next == SessionPhase::Jeopardy ? now : LeadingTime::max();
  SessionWriter::set(*session.state, next, session.deadline);
  if (next != SessionPhase::Valid) {
    for (const auto& [token, hold] : session.holds) stop(hold);
  }
  if (next == SessionPhase::Lost) {
    for (const auto& [token, hold] : session.holds) SessionWriter::lose(*hold);
    session.holds.clear();
    lost_.push_back(session.id());
  }
  announce(session);
}

void SessionTable::announce(Session& session) {
  if (!session.on_phase) return;
  deliveries_.announce([tell = session.on_phase, phase = session.phase] { (*tell)(phase); });
}

void SessionTable::stop(const HoldRef& hold) {
  if (hold->lost_token().stop_requested()) return;  // exact when user code runs inline; a repeat does nothing anyway
  deliveries_.announce([hold] { SessionWriter::request_stop(*hold); });
}

LeadingTime SessionTable::timer_of(const Session& session) const {
  switch (session.phase) {
    case SessionPhase::Valid: return session.deadline;
    case SessionPhase::Jeopardy: return later(session.jeopardy_since, give_up_after(session.ttl(), options_));
    case SessionPhase::Lost: return LeadingTime::max();
  }
  return LeadingTime::max();
}

}  // namespace coordkit::client
