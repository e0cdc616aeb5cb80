#include "coordkit/engine/client.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "client/calls/answers.h"
#include "client/calls/times.h"
#include "client/impl.h"
#include "client/objects/typed_answers.h"
#include "coordkit/error.h"

namespace coordkit {

using client::SessionEvent;

namespace {

// This replica was removed with commands in flight, and will not learn their outcome. Their sessions can neither be renewed
// nor queried. From here on they are left to expire, with everything that they may yet be granted.
bool cut_off(const EngineEffects& effects) {
  return std::any_of(effects.completions.begin(), effects.completions.end(), [](const Completion& completion) {
    return !completion.status.ok() && reason_of(completion.status) == Reason::Removed &&
           outcome_of(completion.status) == Outcome::Unknown;
  });
}

}  // namespace

Client::Impl::Impl(Engine& engine, ClientOptions client_options)
    : options(std::move(client_options)),
      deliveries(std::move(options.notify)),
      requests(engine, options.election_timeout),
      calls(options, deliveries, requests),
      sessions(options, deliveries, requests, calls),
      commands(sessions, requests, calls),
      locks(options, sessions.table(), requests, calls, commands),
      reads(requests, calls),
      writes(requests, calls, locks.lines().lent()),
      objects(sessions.table(), requests, calls, commands, locks.acquires()),
      keys(options, requests, calls),
      leases(options, requests, calls, sessions, writes),
      observations(options, deliveries, requests),
      watches(options, deliveries, requests) {
  COORDKIT_CHECK(options.validate().ok());
}

// Losses must be known before anything is sent. Renewals go first: they overtake everything (F-26).
void Client::Impl::before_turn(Now now) {
  if (calls.stopped()) return;
  notice_gap(now);
  sessions.run_timers(now.leading);
  locks.changes().end_long_holds(now.leading);
  sessions.end_lost();
  requests.run_due(now);
  for (const SessionId session : sessions.take_settled()) locks.lines().wake(session);
  sessions.renew(now.leading);
  locks.acquiring().serve_lines(now);
  commands.post_due();
  calls.start_new(now);
  observations.ask(now);
  keys.compact(now);
  watches.make(now);
  deliveries.flush();
}

// The order matters: a grant must be known before the end of its session, and the end before any renewal (F-14).
void Client::Impl::after_turn(Now now, const EngineEffects& effects) {
  if (calls.stopped()) return;
  requests.turned(effects);
  for (const Completion& completion : effects.completions) {
    if (const auto acquire = requests.complete(completion, now)) locks.acquires().complete(acquire, completion, now);
    if (auto resumed = sessions.take_resumed()) adopt(*std::move(resumed));
  }
  if (cut_off(effects)) sessions.lose_all(SessionEvent::Ended);
  if (effects.restored) observations.observers().skipped(effects.restored->index);
  if (effects.restored) watches.watches().restored();
  for (const MachineEvent& event : effects.events) take(event);
  if (effects.restored) sessions.question_all();
  if (effects.restored) locks.lines().look_for_asked(now);
  sessions.end_lost();
  for (const RenewReply& reply : effects.renewals) {
    leases.looked(reply, now);
    sessions.confirm(reply, now);
  }
  if (effects.leadership && effects.leadership->leader) sessions.leader_known(now.leading);
  if (!effects.more_expired) calls.expire(now);  // else it would end calls to which the engine has answers
  locks.lines().end_waits(now.lagging);
  locks.acquiring().serve_lines(now);
  watches.tell(now);
  deliveries.flush();
  if (!calls.stopped()) gaps_.promise(client::later(now.leading, next_turn(now)));
}

// The session is in the table since this very completion.
void Client::Impl::adopt(client::Sessions::Resumed resumed) {
  client::Session& session = *sessions.table().find(resumed.session);
  ResumedSession found{.session = resumed.session};
  found.holds = locks.adopt(session, resumed.belongings.locks);
  objects.adopt(session, std::move(resumed.belongings.objects), found);
  calls.answer<ResumedSession>(resumed.call, std::move(found));
}

void Client::Impl::take(const MachineEvent& event) {
  if (event.machine != kCoordination) return;
  const auto decoded = machine::decode_event(event.bytes);
  if (!decoded.ok()) return;
  if (const auto* end = std::get_if<machine::SessionEnded>(&*decoded)) {
    if (end->reason == machine::SessionEnded::Reason::Expired) sessions.table().statistics().expired();
    sessions.ended(end->session);
  } else if (const auto* resumed = std::get_if<machine::SessionResumed>(&*decoded)) {
    sessions.resumed_elsewhere(event.index, *resumed);
  } else if (const auto* ending = std::get_if<machine::SessionEnding>(&*decoded)) {
    sessions.ending(ending->session);
  } else if (const auto* change = std::get_if<coordination::Change>(&*decoded)) {
    observations.observers().changed(*change, event.index);
  } else if (const auto* asked = std::get_if<machine::DelegationAsked>(&*decoded)) {
    locks.lines().asked(*asked, gaps_.last());
  }
}

Duration Client::Impl::next_turn(Now now) const {
  if (calls.stopped()) return Duration::max();
  if (requests.posted() || calls.wants_turn() || commands.any_due() || locks.any_due() || !deliveries.empty() ||
      observations.wants_turn() || watches.wants_turn()) {
    return Duration::zero();
  }
  const LeadingTime leading = std::min(sessions.next_event(), locks.next_limit());
  const LaggingTime lagging = std::min(
      {calls.next_deadline(), requests.next_timer(), locks.next_wait(), keys.next_compaction(), watches.next_progress()});
  return std::min(client::until(now.leading, leading), client::until(now.lagging, lagging));
}

void Client::Impl::notice_gap(Now now) {
  const Duration late = gaps_.late(now);
  if (late == Duration::zero()) return;
  sessions.gap(late, now.leading);
  // After a step back it is unknown how long they have been held.
  if (late == Duration::max()) locks.changes().end_long_holds(LeadingTime::max());
}

void Client::Impl::stop(const absl::Status& why) {
  calls.stop(why);  // first: from here on no turn does anything, even if the rest runs out of memory and is repeated
  if (stopped_whole_) return;
  sessions.stop();
  requests.clear();
  leases.clear();
  locks.clear();
  observations.stop();
  watches.watches().stop(make_error(why.ok() ? Reason::Stopped : Reason::ReplicaFailed, Outcome::NoEffect,
                                    "the replica stopped; watch on another one from the revision after the last"));
  deliveries.flush();
  stopped_whole_ = true;
}

ClientStatus Client::Impl::status() const {
  ClientStatus status{.calls = calls.size(), .tickets = requests.tickets()};
  sessions.fill(status);
  return status;
}

// ---- public interface

Client::Client(Engine& engine, ClientOptions options) : impl_(std::make_unique<Impl>(engine, std::move(options))) {}
// Deliveries that a throwing stop left are not made here: the callbacks' objects may be gone.
Client::~Client() {
  if (!stopped()) impl_->stop({});
}

void Client::before_turn(Now now) { impl_->before_turn(now); }
void Client::after_turn(Now now, const EngineEffects& effects) { impl_->after_turn(now, effects); }
Duration Client::next_turn(Now now) const { return impl_->next_turn(now); }
void Client::stop(const absl::Status& why) { impl_->stop(why); }
bool Client::stopped() const { return impl_->calls.stopped(); }
ClientStatus Client::status() const { return impl_->status(); }
void Client::cancel(CallId call) { impl_->calls.cancel(call); }
void Client::abandon(CallId call) { impl_->calls.abandon(call); }

// ---- sessions

CallId Client::open_session(OpenOptions options, Callback<SessionRef> done) {
  return impl_->sessions.open(std::move(options), std::move(done));
}
CallId Client::resume_session(SessionId session, std::string secret, ResumeOptions options, Callback<ResumedSession> done) {
  return impl_->sessions.resume(session, std::move(secret), std::move(options), std::move(done));
}
CallId Client::kill_session(SessionId session, DoneCallback done, CallDeadline deadline) {
  return impl_->sessions.kill(session, std::move(done), deadline);
}
CallId Client::force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline) {
  return impl_->sessions.force_release(std::move(name), token, std::move(done), deadline);
}
CallId Client::close(const SessionRef& session, DoneCallback done, CallDeadline deadline) {
  return impl_->sessions.close(session, std::move(done), deadline);
}

// ---- locks

CallId Client::acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done) {
  return impl_->locks.acquiring().acquire(session, std::move(name), std::move(options), std::move(done));
}
CallId Client::acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options,
                           Callback<HoldRef> done) {
  return impl_->locks.acquiring().acquire_all(session, std::move(locks), std::move(options), std::move(done));
}
CallId Client::downgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline) {
  return impl_->locks.changes().convert(hold, LockMode::Shared, std::move(done), deadline);
}
CallId Client::upgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline) {
  return impl_->locks.changes().convert(hold, LockMode::Exclusive, std::move(done), deadline);
}
CallId Client::update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline) {
  return impl_->locks.changes().update_value(hold, std::move(value), std::move(done), deadline);
}
CallId Client::release(const HoldRef& hold, DoneCallback done, CallDeadline deadline) {
  return impl_->locks.release(hold, std::move(done), deadline);
}
void Client::release_later(const HoldRef& hold) { impl_->locks.release_later(hold); }
void Client::released_locally(const HoldRef& hold) { impl_->locks.lines().released(hold); }
CallId Client::clear_delay(std::string name, DoneCallback done, CallDeadline deadline) {
  machine::ClearDelay body{.name = name};
  return impl_->objects.command(nullptr, std::move(body), std::move(name), deadline, client::giving(std::move(done)));
}
LockStatistics Client::lock_statistics() const { return impl_->sessions.table().lock_statistics(); }
CommandStatistics Client::command_statistics() const { return impl_->requests.statistics(); }
uint64_t Client::unanswered() const { return impl_->requests.unanswered(); }
RenewalStatistics Client::renewal_statistics() const { return impl_->sessions.renewal_statistics(); }

// ---- watches

// A stopped client has no turn that would report why it does not watch.
WatchId Client::watch(WatchOptions options, WatchObserver observer) {
  absl::Status refusal = stopped() ? impl_->calls.why_stopped() : absl::OkStatus();
  const WatchId id = impl_->watches.add(std::move(options), std::move(observer), std::move(refusal));
  if (stopped()) impl_->deliveries.flush();
  return id;
}
void Client::ask_progress(WatchId id) { impl_->watches.ask_progress(id); }
void Client::end_watch(WatchId id, DoneCallback done) {
  impl_->watches.end(id, std::move(done));
  if (stopped()) impl_->deliveries.flush();
}

}  // namespace coordkit
