#include "coordkit/client.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "client/impl.h"
#include "client/times.h"
#include "coordkit/error.h"

namespace coordkit {

Client::Impl::Impl(Engine& engine, ClientOptions options)
    : engine_(engine),
      options_(std::move(options)),
      deliveries_(std::move(options_.notify)),
      sessions_(options_, deliveries_),
      renewals_(options_, sessions_),
      observers_(deliveries_, [this](coordination::Kind kind, const std::string& name,
                                     bool wanted) { engine_.observe(kCoordination, machine::subject_of(kind, name), wanted); }),
      compactor_(options_.compaction),
      watches_(deliveries_, [this](const machine::ChangesAfter& place) {
        const machine::Reads* state = reads();
        return state ? std::optional(state->changes(place)) : std::nullopt;
      }) {
  COORDKIT_CHECK(options_.validate().ok());
}

// ---- the loop

// What is lost is known before anything is sent, and renewals go first: they overtake everything (F-26).
void Client::Impl::before_turn(Now now) {
  if (stopped_) return;
  notice_gap(now);
  sessions_.run_timers(now.leading);
  end_long_holds(now.leading);
  bury_lost();
  while (!later_.empty() && later_.begin()->first.first <= now.lagging) {
    auto due = later_.extract(later_.begin());
    due.mapped()(now);
  }
  if (std::optional<RenewRequest> request = renewals_.due(now.leading)) {
    request->as_of = engine_.applied();  // every answer and event up to there has been seen, a resume's among them
    post(Renew{*std::move(request)});
  }
  serve_lines(now);
  post_releases();
  for (const CallId id : std::exchange(fresh_, {})) take_up(id, now);
  ask_for_observers(now);
  compact_keys(now);
  make_watches(now);
  deliveries_.flush();
}

// Order matters: a grant is known before the end of its session, and the end before any renewal (F-14).
void Client::Impl::after_turn(Now now, const EngineEffects& effects) {
  if (stopped_) return;
  posted_ = false;
  halted_ = halted_ || effects.halted.has_value();
  for (const Completion& completion : effects.completions) complete(completion, now);
  if (cut_off(effects)) lose_all(SessionEvent::Ended);
  if (effects.restored) observers_.skipped(effects.restored->index);
  if (effects.restored) watches_.restored();
  for (const MachineEvent& event : effects.events) machine_event(event);
  if (effects.restored) question_all(now);
  if (effects.restored) look_for_asked(now);
  bury_lost();
  for (const RenewReply& reply : effects.renewals) {
    looked(reply, now);
    for (const SessionId id : renewals_.confirm(reply, !opens_.empty(), now.leading)) question(id, now);
  }
  if (effects.leadership && effects.leadership->leader) renewals_.hurry(now.leading);
  expire(now);
  end_line_waits(now.lagging);
  serve_lines(now);
  tell_watches(now);
  deliveries_.flush();
  if (!stopped_) promised_ = client::later(now.leading, next_turn(now));
}

// This replica was removed with commands under way, and will not be told what becomes of them. Their sessions can neither be
// renewed nor known: from here on they are left to expire, with all that they may yet be granted.
bool Client::Impl::cut_off(const EngineEffects& effects) {
  return std::any_of(effects.completions.begin(), effects.completions.end(), [](const Completion& completion) {
    return reason_of(completion.status) == Reason::Removed && outcome_of(completion.status) == Outcome::Unknown;
  });
}

Duration Client::Impl::next_turn(Now now) const {
  if (stopped_) return Duration::max();
  if (posted_ || !fresh_.empty() || !releasing_.empty() || !due_lines_.empty() || !deliveries_.empty() ||
      observers_.any_to_ask() || (observers_.any_to_retry() && !retrying_observers_ && !halted_) || watches_.any_to_make() ||
      watches_have_more_ || (watches_.any_to_retry() && !retrying_watches_ && !halted_)) {
    return Duration::zero();
  }
  Duration next =
      std::min(client::until(now.leading, sessions_.next_timer()), client::until(now.leading, renewals_.next_due()));
  if (!long_holds_.empty()) next = std::min(next, client::until(now.leading, long_holds_.begin()->first));
  if (!deadlines_.empty()) next = std::min(next, client::until(now.lagging, deadlines_.begin()->first));
  if (!later_.empty()) next = std::min(next, client::until(now.lagging, later_.begin()->first.first));
  if (!line_ends_.empty()) next = std::min(next, client::until(now.lagging, line_ends_.begin()->first));
  if (compactor_.on()) next = std::min(next, client::until(now.lagging, next_compaction_));
  return std::min(next, client::until(now.lagging, watches_.next_mark()));
}

// docs/time.md LT-9. Late is measured against what the host was told, so that an idle client is not taken for a paused one.
void Client::Impl::notice_gap(Now now) {
  const bool back = now.leading < last_leading_ || now.lagging < last_lagging_;
  last_leading_ = now.leading;
  last_lagging_ = now.lagging;
  const Duration late = back ? Duration::max() : now.leading > promised_ ? now.leading - promised_ : Duration::zero();
  if (late == Duration::zero()) return;
  sessions_.gap(late, renewals_.next_attempt(), now.leading);
  for (auto& [number, open] : opens_) {
    if (late > sessions_.renewal_interval(std::max(open.ttl, machine::kTtlMin))) open.reference = LeadingTime::min();
  }
  if (!back) return;
  renewals_.restart(now.leading);
  end_long_holds(LeadingTime::max());  // how long they have been held cannot be told any more
}

void Client::Impl::stop() {
  if (stopped_) return;
  stopped_ = true;
  while (!calls_.empty()) {
    const auto& [id, call] = *calls_.begin();
    const Outcome outcome = call.submitted ? Outcome::Unknown : Outcome::None;
    fail(id, make_error(Reason::Stopped, outcome, "the replica stopped before the call was answered"));
  }
  while (!sessions_.all().empty()) {
    Session& session = *sessions_.all().begin()->second;
    sessions_.lose(session, SessionEvent::Closed);
    renewals_.ended(session.id());
    sessions_.erase(session.id());
  }
  tickets_.clear();
  later_.clear();
  opens_.clear();
  looks_.clear();
  resuming_.clear();
  long_holds_.clear();
  releasing_.clear();
  line_ends_.clear();
  due_lines_.clear();
  stalled_.clear();
  observers_.clear();
  watches_.stop(make_error(Reason::Stopped, "the replica stopped; watch on another one from the revision after the last"));
  fresh_.clear();
  deliveries_.flush();
}

ClientStatus Client::Impl::status() const {
  ClientStatus status{.calls = calls_.size(),
                      .tickets = tickets_.size(),
                      .opens = opens_.size(),
                      .sessions = sessions_.all().size(),
                      .orphans = renewals_.orphans(),
                      .attempts = renewals_.attempts()};
  for (const auto& [id, session] : sessions_.all()) {
    status.holds += session->holds.size() + session->state->delegations()->size();
    status.releases += session->releases.size();
  }
  return status;
}

// ---- the life of a call

CallId Client::Impl::enter(Done done, Fate fate, CallDeadline deadline, Duration patience,
                           absl::AnyInvocable<void(CallId, Now)> start) {
  if (stopped_) return refuse(std::move(done), absl::OkStatus());
  if (fate != Fate::Persist && calls_.size() >= options_.calls_max) {
    return refuse(std::move(done), make_error(Reason::TooManyRequests, "calls_max calls are under way; wait for some to end"));
  }
  const CallId id(++last_call_);
  Call& call = calls_[id];
  call.done = std::move(done);
  call.fate = fate;
  call.asked = deadline;
  call.patience = patience;
  call.start = std::move(start);
  fresh_.push_back(id);
  return id;
}

// Answered in the next turn, because a callback never runs inside the call that was given it. A stopped client has no
// next turn.
CallId Client::Impl::refuse(Done done, absl::Status why) {
  const CallId id(++last_call_);
  if (stopped_) {
    deliver(done, make_error(Reason::Closed, "the replica is closed; open another one"));
  } else {
    deliveries_.answer([done = std::move(done), why]() mutable { deliver(done, why); });
  }
  return id;
}

void Client::Impl::deliver(Done& done, const absl::Status& status) {
  std::visit([&status](auto& call) { call(status); }, done);
}

Client::Impl::Call* Client::Impl::find(CallId id) {
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : &found->second;
}

void Client::Impl::take_up(CallId id, Now now) {
  Call* call = find(id);
  if (call == nullptr) return;
  call->deadline = call->asked ? *call->asked : client::later(now.lagging, call->patience);
  if (call->deadline <= now.lagging) {
    fail(id, late(*call));
    return;
  }
  if (call->deadline != LaggingTime::max()) deadlines_.emplace(call->deadline, id);
  auto start = std::exchange(call->start, nullptr);
  start(id, now);
}

std::optional<Client::Impl::Done> Client::Impl::remove(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return std::nullopt;
  Call& call = found->second;
  deadlines_.erase({call.deadline, id});
  if (call.session) {
    if (Session* session = same_life(call.session)) session->acquires.erase(id);
  }
  if (!call.line.empty()) leave_line(id, call);
  if (call.suspends && !call.submitted) SessionWriter::suspend(*call.suspends, false);
  Done done = std::move(call.done);
  calls_.erase(found);
  return done;
}

bool Client::Impl::answer_done(CallId id, absl::Status status) {
  std::optional<Done> done = remove(id);
  if (!done) return false;
  deliveries_.answer(
      [call = std::move(std::get<DoneCallback>(*done)), status = std::move(status)]() mutable { call(std::move(status)); });
  return true;
}

bool Client::Impl::fail(CallId id, absl::Status status) {
  std::optional<Done> done = remove(id);
  if (!done) return false;
  deliveries_.answer([done = *std::move(done), status = std::move(status)]() mutable { deliver(done, status); });
  return true;
}

// The engine had its turn at this moment and would have answered what it knows; the rest ends here (docs/semantics.md S-59).
void Client::Impl::expire(Now now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.lagging) {
    const CallId id = deadlines_.begin()->second;
    give_up(id, late(*find(id)));
  }
}

absl::Status Client::Impl::late(const Call& call) const {
  const bool in_log = call.submitted || call.fate == Fate::Persist;
  if (call.cancelled) return make_error(Reason::CancelPending, "the deadline passed before the cancellation was decided");
  return make_error(Reason::CallTimeout, in_log ? Outcome::Unknown : Outcome::None,
                    in_log ? "the deadline passed before the result was known; it may still take effect"
                           : "the deadline passed before anything was done");
}

// The caller is answered now; what the ticket may still bring is undone or ignored according to the call's fate.
void Client::Impl::give_up(CallId id, absl::Status status) {
  const Call& call = *find(id);
  if (call.flight) {
    if (call.flight->request.sequence) post_cancel(call.flight);
  } else if (call.ticket && call.fate != Fate::Persist && !(call.fate == Fate::Pursue && call.submitted)) {
    tickets_.erase(call.ticket);
    post(Forget{call.ticket});
  }
  fail(id, std::move(status));
}

void Client::Impl::cancel(CallId id) {
  Call* call = find(id);
  if (call == nullptr) return;
  if (!call->flight) return abandon(id);
  call->cancelled = true;
  if (call->flight->request.sequence) post_cancel(call->flight);
}

void Client::Impl::abandon(CallId id) {
  const Call* call = find(id);
  if (call == nullptr) return;
  if (!call->line.empty() && !call->submitted) statistics_.refused(machine::ResultCode::Cancelled);
  give_up(id, call->submitted ? make_error(Reason::CancelPending, "the caller stopped listening; it may still take effect")
                              : make_error(Reason::Cancelled, Outcome::None, "the call was cancelled before it was sent"));
}

// ---- the engine's side

void Client::Impl::post(EngineInput input) {
  engine_.post(std::move(input));
  posted_ = true;
}

Ticket Client::Impl::submit(const machine::Request& request, LaggingTime deadline, Urgency urgency,
                            OnCompletion on_completion) {
  return post_submit({.command = SharedBytes(machine::encode(request)), .deadline = deadline, .urgency = urgency},
                     std::move(on_completion));
}

Ticket Client::Impl::post_submit(Submit submit, OnCompletion on_completion) {
  submit.ticket = Ticket(++last_ticket_);
  const Ticket ticket = submit.ticket;
  tickets_.emplace(ticket, std::move(on_completion));
  post(std::move(submit));
  return ticket;
}

// A command of a session carries the session's unanswered releases; once it was executed, they were (S-43).
Ticket Client::Impl::submit_for(Session& session, machine::Request request, LaggingTime deadline, Urgency urgency,
                                OnCompletion on_completion) {
  const auto* release = std::get_if<machine::Release>(&request.body);
  std::vector<client::ReleaseId> carried;
  for (client::PendingRelease& pending : session.releases) {
    if (session.settling && !mutant(Mutant::ResumedLetsGo)) break;  // S-45: none of it may take effect yet
    if (release != nullptr && client::ReleaseId{release->token, release->number} == pending.id) continue;
    if (carried.size() == machine::kPriorReleasesMax) break;
    pending.repeated = true;
    carried.push_back(pending.id);
    request.prior_releases.push_back({pending.name, pending.id.token, pending.id.number});
  }
  return submit(request, deadline, urgency,
                [this, state = session.state, carried = std::move(carried), on_completion = std::move(on_completion)](
                    const Completion& completion, Now now) mutable {
                  const auto result = client::result_of(completion);
                  Session* owner = same_life(state);
                  if (owner != nullptr && result.ok() && client::was_executed(*result)) {
                    for (const client::ReleaseId& id : carried) release_done(*owner, id, absl::OkStatus());
                  }
                  on_completion(completion, now);
                  Session* left = same_life(state);
                  if (left == nullptr || !result.ok()) return;
                  if (result->code == machine::ResultCode::SessionNotFound) ended(state->id());
                  if (result->code == machine::ResultCode::Lost) told_lost(*left);
                });
}

// The session as long as this client has had it without a break: one that went to another process and came back is another
// life, with other handles, and what was asked in the former one says nothing of it.
client::Session* Client::Impl::same_life(const SessionRef& state) {
  Session* session = stopped_ ? nullptr : sessions_.find(state->id());
  return session != nullptr && (session->state == state || mutant(Mutant::OtherLifeIsHeard)) ? session : nullptr;
}

Ticket Client::Impl::ask_engine(Ask ask, OnCompletion on_completion) {
  ask.ticket = Ticket(++last_ticket_);
  const Ticket ticket = ask.ticket;
  tickets_.emplace(ticket, std::move(on_completion));
  post(std::move(ask));
  return ticket;
}

void Client::Impl::complete(const Completion& completion, Now now) {
  const auto found = tickets_.find(completion.ticket);
  if (found == tickets_.end()) return;
  auto node = tickets_.extract(found);
  node.mapped()(completion, now);
  const bool once_more = completion.status.ok() && completion.stage == ApplyOutput::Stage::Queued;
  if (once_more) tickets_.insert(std::move(node));
}

const machine::Reads* Client::Impl::reads() const {
  const StateMachine* machine = engine_.machine(kCoordination);
  return machine == nullptr ? nullptr : machine->reads();
}

absl::StatusOr<const machine::Reads*> Client::Impl::readable(const Completion& completion) const {
  if (!completion.status.ok()) return completion.status;
  if (const machine::Reads* state = reads()) return state;
  return make_error(Reason::Unsupported, "this engine does not host coordkit's own machine; give it one");
}

void Client::Impl::run_later(LaggingTime at, absl::AnyInvocable<void(Now)> run) {
  later_.emplace(std::pair(at, ++last_later_), std::move(run));
}

// ---- the public face

Client::Client(Engine& engine, ClientOptions options) : impl_(std::make_unique<Impl>(engine, std::move(options))) {}
Client::~Client() { impl_->stop(); }

void Client::before_turn(Now now) { impl_->before_turn(now); }
void Client::after_turn(Now now, const EngineEffects& effects) { impl_->after_turn(now, effects); }
Duration Client::next_turn(Now now) const { return impl_->next_turn(now); }
void Client::released_locally(const HoldRef& hold) { impl_->released_locally(hold); }
void Client::stop() { impl_->stop(); }
bool Client::stopped() const { return impl_->stopped(); }
ClientStatus Client::status() const { return impl_->status(); }

CallId Client::open_session(OpenOptions options, Callback<SessionRef> done) {
  return impl_->open_session(std::move(options), std::move(done));
}
CallId Client::resume_session(SessionId session, std::string secret, ResumeOptions options, Callback<ResumedSession> done) {
  return impl_->resume_session(session, std::move(secret), std::move(options), std::move(done));
}
CallId Client::kill_session(SessionId session, DoneCallback done, CallDeadline deadline) {
  return impl_->kill_session(session, std::move(done), deadline);
}
CallId Client::force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline) {
  return impl_->force_release(std::move(name), token, std::move(done), deadline);
}
CallId Client::close(const SessionRef& session, DoneCallback done, CallDeadline deadline) {
  return impl_->close(session, std::move(done), deadline);
}
CallId Client::acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done) {
  return impl_->acquire(session, std::move(name), std::move(options), std::move(done));
}
CallId Client::acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options,
                           Callback<HoldRef> done) {
  return impl_->acquire_all(session, std::move(locks), std::move(options), std::move(done));
}
CallId Client::downgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline) {
  return impl_->convert(hold, LockMode::Shared, std::move(done), deadline);
}
CallId Client::upgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline) {
  return impl_->convert(hold, LockMode::Exclusive, std::move(done), deadline);
}
CallId Client::update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline) {
  return impl_->update_value(hold, std::move(value), std::move(done), deadline);
}
void Client::cancel(CallId call) { impl_->cancel(call); }
void Client::abandon(CallId call) { impl_->abandon(call); }
CallId Client::release(const HoldRef& hold, DoneCallback done, CallDeadline deadline) {
  return impl_->release(hold, std::move(done), deadline);
}
void Client::release_later(const HoldRef& hold) { impl_->release_later(hold); }
WatchId Client::watch(WatchOptions options, WatchObserver observer) {
  return impl_->watch(std::move(options), std::move(observer));
}
void Client::ask_mark(WatchId id) { impl_->ask_mark(id); }
void Client::end_watch(WatchId id, DoneCallback done) { impl_->end_watch(id, std::move(done)); }

}  // namespace coordkit
