// Acquire and cancel: a grant, a definite refusal, or - when the caller is gone - a grant that is given back.
#include "base/mutant.h"
#include "client/impl.h"
#include "client/times.h"
#include "client/waits.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

using client::patience_of;
using client::wait_of;

// Would a try by this owner be refused as Held? Not if it is the holder itself: that answer is AlreadyHeld.
bool held_by_other(const machine::HoldersReply& reply, const machine::Acquire& body) {
  for (const machine::HolderInfo& holder : reply.holders) {
    if (holder.session == body.session && holder.owner_tag == body.owner_tag) return false;
  }
  return !reply.holders.empty() || reply.waiters > 0;
}

}  // namespace

CallId Client::Impl::acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done) {
  if (session == nullptr) return refuse(std::move(done), make_error(Reason::InvalidArgument, "no session was given"));
  machine::Acquire body{.session = session->id(),
                        .owner_tag = std::move(options.owner_tag),
                        .name = std::move(name),
                        .wait = wait_of(options.wait),
                        .value = std::move(options.value)};
  if (absl::Status door = client::check_request({.body = body}); !door.ok()) return refuse(std::move(done), door);
  if (session->phase() == SessionPhase::Lost) {
    return refuse(std::move(done), make_error(Reason::Lost, "the session has ended; open a new one"));
  }
  return enter(std::move(done), Fate::Pursue, options.deadline, patience_of(options.wait, options_),
               [this, body = std::move(body)](CallId id, Now) mutable { start_acquire(id, std::move(body)); });
}

void Client::Impl::start_acquire(CallId id, machine::Acquire body) {
  Session* session = sessions_.find(body.session);
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    fail(id, make_error(Reason::Lost, "the session has ended; open a new one"));
    return;
  }
  session->acquires.insert(id);
  find(id)->session = body.session;
  if (body.wait.kind == machine::Wait::Kind::None && seems_held(*session, body)) {
    confirm_held(id, std::move(body));
  } else {
    submit_acquire(id, std::move(body));
  }
}

// By this replica's own state, perhaps old. A release of ours under way makes it worth a log entry, which performs it.
bool Client::Impl::seems_held(const Session& session, const machine::Acquire& body) const {
  for (const client::PendingRelease& release : session.releases) {
    if (release.name == body.name) return false;
  }
  const StateMachine* machine = engine_.machine(kCoordination);
  if (machine == nullptr) return false;
  const auto bytes = machine->query(machine::encode(machine::Query(machine::HoldersQuery{.name = body.name})));
  if (!bytes.ok()) return false;
  const auto reply = machine::decode_holders(*bytes);
  return reply.ok() && held_by_other(*reply, body);
}

// A failed try costs no log entry: one confirmed look is as good (S-48).
void Client::Impl::confirm_held(CallId id, machine::Acquire body) {
  Call& call = *find(id);
  std::string query = machine::encode(machine::Query(machine::HoldersQuery{.name = body.name}));
  call.ticket = ask_engine({.request = std::move(query), .deadline = call.deadline},
                           [this, id, body = std::move(body)](const Completion& completion, Now) mutable {
                             if (find(id) == nullptr) return;
                             if (!completion.status.ok()) {
                               fail(id, completion.status);
                               return;
                             }
                             const auto reply = machine::decode_holders(completion.bytes);
                             if (reply.ok() && held_by_other(*reply, body)) {
                               fail(id, client::status_of({.code = machine::ResultCode::Held}, body.name));
                               return;
                             }
                             submit_acquire(id, std::move(body));
                           });
}

void Client::Impl::submit_acquire(CallId id, machine::Acquire body) {
  Flight flight{.call = id, .session = body.session, .name = body.name, .owner_tag = body.owner_tag};
  submit_flight(std::move(flight), std::move(body));
}

void Client::Impl::submit_flight(Flight of, machine::Request::Body body) {
  Call& call = *find(of.call);
  auto flight = std::make_shared<Flight>(std::move(of));
  call.submitted = true;
  call.flight = flight;
  Session& session = *sessions_.find(flight->session);
  call.ticket = submit_for(session, {.body = std::move(body)}, call.deadline, Urgency::Normal,
                           [this, flight](const Completion& completion, Now) { acquired(flight, completion); });
}

void Client::Impl::acquired(const std::shared_ptr<Flight>& flight, const Completion& completion) {
  if (completion.request.sequence) flight->request = completion.request;
  const auto result = client::result_of(completion);
  if (!result.ok()) return acquire_failed(flight, result.status());
  if (completion.stage == ApplyOutput::Stage::Queued) {
    const Call* call = find(flight->call);
    if (call == nullptr || call->cancelled) post_cancel(flight);
    return;
  }
  if (result->code == machine::ResultCode::Granted) return granted(*flight, *result);
  if (result->code == machine::ResultCode::Ok) {  // a wait that ends with nothing in the hand
    answer<client::Executed>(flight->call, client::Executed{*result, completion.index, nullptr});
    return;
  }
  fail(flight->call, client::status_of(*result, flight->name));
}

// The engine gave up. If the command may still take effect, only a cancel can tell and undo.
void Client::Impl::acquire_failed(const std::shared_ptr<Flight>& flight, absl::Status status) {
  const bool unknown = outcome_of(status) == Outcome::Unknown;
  if (unknown && flight->request.sequence) {
    flight->given_up = true;
    post_cancel(flight);
  }
  const Call* call = find(flight->call);
  if (call != nullptr && call->cancelled) {
    status = unknown ? make_error(Reason::CancelPending, "the deadline passed before the cancellation was decided")
                     : make_error(Reason::Cancelled, "the acquire never reached the log; the caller does not hold the lock");
  }
  fail(flight->call, std::move(status));
}

void Client::Impl::granted(const Flight& flight, const machine::Result& result) {
  Session* session = sessions_.find(flight.session);
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    // The close that is under way, or the end of the session, takes the hold with it.
    fail(flight.call, make_error(Reason::Lost, "the session ended while the acquire was under way"));
  } else if (find(flight.call) == nullptr) {
    if (!mutant(Mutant::LateGrantKept)) give_back(*session, flight.name, result.token);
  } else {
    HoldRef hold = sessions_.grant(*session, flight.name, flight.owner_tag, result.token, result.since);
    if (std::holds_alternative<Callback<HoldRef>>(find(flight.call)->done)) {
      answer<HoldRef>(flight.call, std::move(hold));
    } else {
      answer<client::Executed>(flight.call, client::Executed{result, result.since, std::move(hold)});
    }
  }
}

void Client::Impl::post_cancel(const std::shared_ptr<Flight>& flight) {
  Session* session = sessions_.find(flight->session);
  if (flight->cancel_posted || session == nullptr || session->phase == SessionPhase::Lost) return;
  flight->cancel_posted = true;
  machine::CancelAcquire body{
      .session = flight->session, .owner_tag = flight->owner_tag, .name = flight->name, .acquire = flight->request};
  submit_for(*session, {.body = std::move(body)}, LaggingTime::max(), Urgency::Reserved,
             [this, flight](const Completion& completion, Now now) { cancel_answered(flight, completion, now); });
}

// While the engine still pursues the acquire, that one's own final answer counts; afterwards this is the only word.
void Client::Impl::cancel_answered(const std::shared_ptr<Flight>& flight, const Completion& completion, Now now) {
  const auto result = client::result_of(completion);
  if (!result.ok()) {
    flight->cancel_posted = false;
    if (!halted_) run_later(retry_time(now), [this, flight](Now) { post_cancel(flight); });
    return;
  }
  Session* session = sessions_.find(flight->session);
  const bool late_grant = result->code == machine::ResultCode::Granted && flight->given_up;
  if (late_grant && session != nullptr && session->phase != SessionPhase::Lost) {
    give_back(*session, flight->name, result->token);
  }
}

}  // namespace coordkit
