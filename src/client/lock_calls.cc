// Acquire and cancel: a grant, a definite refusal, or - when the caller is gone - a grant that is given back.
#include <algorithm>
#include <optional>

#include "base/mutant.h"
#include "client/impl.h"
#include "client/times.h"
#include "client/waits.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

using client::patience_of;
using client::wait_of;

// The same of both kinds of acquire.
std::string name_of(const machine::Acquire& body) { return body.name; }
std::string name_of(const machine::AcquireAll& body) { return body.locks.empty() ? std::string() : body.locks.front().name; }

HoldTerms terms_of(const machine::Acquire& body) { return {body.mode, (body.flags & machine::kReentrant) != 0, {}}; }
HoldTerms terms_of(const machine::AcquireAll& body) {
  return {body.locks.front().mode, false, {body.locks.begin() + 1, body.locks.end()}};
}

uint64_t block_of(const machine::Acquire& body) { return body.block; }
uint64_t block_of(const machine::AcquireAll&) { return 0; }

bool names(const machine::Acquire& body, const std::string& name) { return body.name == name; }
bool names(const machine::AcquireAll& body, const std::string& name) {
  return std::ranges::any_of(body.locks, [&name](const NamedLock& each) { return each.name == name; });
}

uint64_t flags_of(const AcquireOptions& options) {
  return (options.reentrant ? machine::kReentrant : 0) | (options.no_deadlock_check ? machine::kNoDeadlockCheck : 0);
}

}  // namespace

CallId Client::Impl::acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done) {
  machine::Acquire body{.session = {},
                        .owner_tag = std::move(options.owner_tag),
                        .name = std::move(name),
                        .wait = wait_of(options.wait),
                        .value = std::move(options.value),
                        .flags = flags_of(options),
                        .mode = options.mode,
                        .delay = options.delay,
                        .block = options.sticky ? options_.sticky.block : 0};
  return enter_acquire(session, std::move(body), options, std::move(done));
}

CallId Client::Impl::acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options,
                                 Callback<HoldRef> done) {
  if (options.sticky) {
    return refuse(std::move(done), make_error(Reason::InvalidArgument, "several locks at once cannot be sticky"));
  }
  machine::AcquireAll body{.session = {},
                           .owner_tag = std::move(options.owner_tag),
                           .locks = std::move(locks),
                           .wait = wait_of(options.wait),
                           .value = std::move(options.value),
                           .flags = flags_of(options),
                           .delay = options.delay};
  return enter_acquire(session, std::move(body), options, std::move(done));
}

template <typename Body>
CallId Client::Impl::enter_acquire(const SessionRef& session, Body body, const AcquireOptions& options,
                                   Callback<HoldRef> done) {
  if (session == nullptr)
    return refuse(std::move(done), make_error(Reason::InvalidArgument, "no session was given; open one first"));
  body.session = session->id();
  if (absl::Status door = client::check_request({.body = body}); !door.ok()) return refuse(std::move(done), door);
  if (session->phase() == SessionPhase::Lost) {
    return refuse(std::move(done), make_error(Reason::Lost, "the session has ended; open a new one"));
  }
  if (options.max_hold < Duration::zero()) {
    return refuse(std::move(done), make_error(Reason::InvalidArgument, "max_hold is negative; zero means no limit"));
  }
  const CallId id = enter(std::move(done), Fate::Pursue, options.deadline, patience_of(options.wait, options_),
                          [this, of = session, body = std::move(body)](CallId call, Now now) mutable {
                            start_acquire(call, of, std::move(body), now);
                          });
  if (Call* call = find(id)) call->max_hold = options.max_hold;
  return id;
}

template <typename Body>
void Client::Impl::start_acquire(CallId id, const SessionRef& of, Body body, Now now) {
  if (find(id) == nullptr) return;
  Session* session = same_life(of);
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    fail(id, make_error(Reason::Lost, "the session has ended; open a new one"));
    return;
  }
  session->acquires.insert(id);
  Call& call = *find(id);
  call.session = of;
  if (call.began == LaggingTime()) call.began = now.lagging;
  if (session->overfull()) {
    run_later(retry_time(now),
              [this, id, of, body = std::move(body)](Now later) mutable { start_acquire(id, of, std::move(body), later); });
    return;
  }
  if (!join(id, *session, body, now)) go_to_log(id, std::move(body));
}

void Client::Impl::begin_acquire(CallId id, machine::Acquire body) { go_to_log(id, std::move(body)); }

template <typename Body>
void Client::Impl::go_to_log(CallId id, Body body) {
  if (body.wait.kind == machine::Wait::Kind::None && seems_held(*same_life(find(id)->session), body)) {
    confirm_held(id, std::move(body));
  } else {
    submit_acquire(id, std::move(body));
  }
}

// By this replica's own state, perhaps old. A release of ours under way makes it worth a log entry, which performs it.
template <typename Body>
bool Client::Impl::seems_held(const Session& session, const Body& body) const {
  for (const client::PendingRelease& release : session.releases) {
    if (names(body, release.name)) return false;
  }
  const machine::Reads* state = reads();
  if (state == nullptr || mutant(Mutant::RefusedTryLogged)) return false;
  return state->refusal_of(body).has_value();
}

// A failed try costs no log entry: one confirmed look is as good (S-48).
template <typename Body>
void Client::Impl::confirm_held(CallId id, Body body) {
  Call& call = *find(id);
  call.ticket =
      ask_engine({.deadline = call.deadline}, [this, id, body = std::move(body)](const Completion& completion, Now) mutable {
        if (find(id) == nullptr) return;
        const auto state = readable(completion);
        if (!state.ok()) {
          fail(id, state.status());
        } else if (const auto refusal = (*state)->refusal_of(body)) {
          if (refusal->code == machine::ResultCode::AlreadyHeld && find(id)->proclaims) {
            const SessionRef of = find(id)->session;
            proclaim_instead(id, of, name_of(body), refusal->token, body.value);
          } else {
            not_granted(id, *refusal, name_of(body));
          }
        } else {
          submit_acquire(id, std::move(body));
        }
      });
}

template <typename Body>
void Client::Impl::submit_acquire(CallId id, Body body) {
  Flight flight{.call = id,
                .session = find(id)->session,
                .name = name_of(body),
                .owner_tag = body.owner_tag,
                .max_hold = find(id)->max_hold,
                .terms = terms_of(body),
                .block = block_of(body),
                .delay = body.delay,
                .in_line = !find(id)->line.empty(),
                .of_lock = true};
  if (find(id)->proclaims) flight.proclaims = body.value;
  submit_flight(std::move(flight), std::move(body));
}

void Client::Impl::submit_flight(Flight of, machine::Request::Body body) {
  Call& call = *find(of.call);
  auto flight = std::make_shared<Flight>(std::move(of));
  call.submitted = true;
  call.flight = flight;
  Session& session = *same_life(flight->session);
  // One that may count up a hold is pursued until its own answer comes: of a hold that several acquires stand for, a cancel
  // cannot tell whether this was one of them.
  const LaggingTime deadline = flight->terms.counted ? LaggingTime::max() : call.deadline;
  call.ticket = submit_for(session, {.body = std::move(body)}, deadline, Urgency::Normal,
                           [this, flight](const Completion& completion, Now now) { acquired(flight, completion, now); });
}

void Client::Impl::acquired(const std::shared_ptr<Flight>& flight, const Completion& completion, Now now) {
  if (completion.request.sequence) flight->request = completion.request;
  const auto result = client::result_of(completion);
  if (!result.ok()) return acquire_failed(flight, result.status());
  if (completion.stage == ApplyOutput::Stage::Queued) {
    Call* call = find(flight->call);
    if (call == nullptr || call->cancelled) post_cancel(flight);
    if (call != nullptr && flight->of_lock && !std::exchange(call->waited, true)) statistics_.queued();
    return;
  }
  if (result->code == machine::ResultCode::Granted) {
    granted(*flight, *result, now);
  } else if (result->code == machine::ResultCode::Ok) {  // a wait that ends with nothing in the hand
    answer<client::Executed>(flight->call, client::Executed{*result, completion.index, nullptr});
  } else if (result->code == machine::ResultCode::AlreadyHeld && flight->proclaims) {
    proclaim_instead(flight->call, flight->session, flight->name, result->token, *flight->proclaims);
  } else if (flight->of_lock) {
    not_granted(flight->call, *result, flight->name);
  } else {
    fail(flight->call, client::status_of(*result, flight->name));
  }
  fetch_over(*flight);
}

// The engine gave up. If the command may still take effect, only a cancel can tell and undo.
void Client::Impl::acquire_failed(const std::shared_ptr<Flight>& flight, absl::Status status) {
  const bool unknown = outcome_of(status) == Outcome::Unknown;
  if (unknown && flight->request.sequence) {
    flight->given_up = true;
    post_cancel(flight);
  } else {
    fetch_over(*flight);
  }
  const Call* call = find(flight->call);
  if (call != nullptr && call->cancelled) {
    status = unknown ? make_error(Reason::CancelPending, "the deadline passed before the cancellation was decided")
                     : make_error(Reason::Cancelled, "the acquire never reached the log; the caller does not hold the lock");
  }
  fail(flight->call, std::move(status));
}

void Client::Impl::granted(const Flight& flight, const machine::Result& result, Now now) {
  Session* session = same_life(flight.session);
  if (session != nullptr && flight.terms.counted) {
    uint64_t& last = session->releases_counted[result.token];
    last = std::max(last, result.releases);
  }
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    // The close that is under way, or the end of the session, takes the hold with it.
    fail(flight.call, make_error(Reason::Lost, "the session ended while the acquire was under way; open a new one"));
  } else if (flight.block != 0) {
    delegated(*session, flight, result, now);
  } else if (find(flight.call) == nullptr) {
    if (!mutant(Mutant::LateGrantKept)) give_back(*session, flight.name, result.token, flight.terms.counted);
  } else {
    const LeadingTime until =
        flight.max_hold > Duration::zero() ? client::later(now.leading, flight.max_hold) : LeadingTime::max();
    HoldRef hold = sessions_.grant(*session, flight.name, flight.owner_tag, result.token, result.since, until, flight.terms);
    limit_hold(hold);
    if (flight.of_lock) count_grant(flight.call, now);
    if (std::holds_alternative<Callback<HoldRef>>(find(flight.call)->done)) {
      answer<HoldRef>(flight.call, std::move(hold));
    } else {
      answer<client::Executed>(flight.call, client::Executed{result, result.since, std::move(hold)});
    }
  }
}

// The call still listens.
void Client::Impl::count_grant(CallId id, Now now) {
  const Call& call = *find(id);
  statistics_.granted(call.waited ? std::optional(now.lagging - call.began) : std::nullopt);
}

void Client::Impl::not_granted(CallId id, const machine::Result& result, const std::string& name) {
  if (fail(id, client::status_of(result, name))) statistics_.refused(result.code);
}

void Client::Impl::post_cancel(const std::shared_ptr<Flight>& flight) {
  Session* session = same_life(flight->session);
  if (flight->cancel_posted || session == nullptr || session->phase == SessionPhase::Lost) return;
  flight->cancel_posted = true;
  machine::CancelAcquire body{
      .session = session->id(), .owner_tag = flight->owner_tag, .name = flight->name, .acquire = flight->request};
  submit_for(*session, {.body = std::move(body)}, LaggingTime::max(), Urgency::Reserved,
             [this, flight](const Completion& completion, Now now) { cancel_answered(flight, completion, now); });
}

// While the engine still pursues the acquire, that one's own final answer counts; afterwards this is the only word. A session
// that went away and came back has brought what it holds along, this grant included: it is no longer this acquire's to give
// back.
void Client::Impl::cancel_answered(const std::shared_ptr<Flight>& flight, const Completion& completion, Now now) {
  const auto result = client::result_of(completion);
  if (!result.ok()) {
    flight->cancel_posted = false;
    if (!halted_) run_later(retry_time(now), [this, flight](Now) { post_cancel(flight); });
    return;
  }
  if (flight->given_up) fetch_over(*flight);
  Session* session = same_life(flight->session);
  const bool late_grant = result->code == machine::ResultCode::Granted && flight->given_up;
  if (late_grant && session != nullptr && session->phase != SessionPhase::Lost) {
    give_back(*session, flight->name, result->token, flight->terms.counted);
  }
}

}  // namespace coordkit
