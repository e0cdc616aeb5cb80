#include "client/locks/acquires.h"

#include <algorithm>
#include <utility>

#include "client/calls/answers.h"
#include "client/calls/times.h"
#include "client/locks/lock_refusal.h"
#include "client/objects/executed.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

HoldTerms hold_terms(const PendingAcquire& acquire) {
  return {acquire.mode, acquire.counted, acquire.extension ? acquire.extension->others : std::vector<NamedLock>()};
}

}  // namespace

void Acquires::own(CallId id, Duration max_hold, bool proclaims) {
  Call* call = calls_.find(id);
  if (call == nullptr) return;
  call->acquire = pending_.emplace();
  call->acquire->call = id;
  call->owner = this;  // the owner relies on that
  call->acquire->proclaims = proclaims;
  if (max_hold > Duration::zero()) call->acquire->make_extension().max_hold = max_hold;
}

Session* Acquires::begin(CallId id, const SessionRef& of, Now now) {
  Call* const call = calls_.find(id);
  if (call == nullptr) return nullptr;
  Session* session = table_.find_live(of);
  if (session == nullptr) {
    calls_.fail(id, session_over());
    return nullptr;
  }
  PendingAcquire& acquire = *call->acquire;
  if (!acquire.session) {
    acquire.session = session->state;
    session->acquires.append(acquire);
  }
  if (acquire.began == LaggingTime()) acquire.began = now.lagging;
  return session;
}

void Acquires::submit(Call& call, Terms&& terms, machine::Request&& request) {
  call.submitted = true;
  Pending acquire = call.acquire;
  acquire->set_names(terms.name, terms.owner_tag);
  acquire->mode = terms.hold.mode;
  acquire->counted = terms.hold.counted;
  acquire->of_lock = terms.of_lock;
  take(acquire, AcquireEvent::Sent);
  if (terms.block != 0 || acquire->proclaims || !terms.hold.others.empty()) {
    PendingAcquire::Extension& extension = acquire->make_extension();
    extension.others = std::move(terms.hold.others);
    extension.block = terms.block;
    extension.delay = terms.delay;
    extension.proclaimed = std::move(terms.proclaimed);
  }
  // An acquire that may count up a hold is pursued until its own answer comes. Several acquires share such a hold, so a
  // cancel cannot tell whether this was one of them.
  const LaggingTime deadline = acquire->counted ? LaggingTime::max() : call.deadline;
  call.ticket = commands_.submit(session_of(call), std::move(request), deadline, Urgency::Normal,
                                 [this, acquire](const Completion& completion, const SessionCommands::Result& result, Now now) {
                                   answered(acquire, completion, result, now);
                                 });
}

void Acquires::answered(const Pending& acquire, const Completion& completion, const SessionCommands::Result& result, Now now) {
  if (completion.request.sequence) acquire->sequence = completion.request.sequence;
  if (!result.ok()) return failed(acquire, result.status());
  if (completion.stage == ApplyOutput::Stage::Queued) return queued(acquire, completion.ticket);
  take(acquire, AcquireEvent::Ended);
  if (result->code == machine::ResultCode::Granted) {
    granted(*acquire, *result, now);
  } else if (result->code == machine::ResultCode::Ok) {  // a wait that ends without a hold
    calls_.answer<Executed>(acquire->call, Executed{*result, completion.index, nullptr});
  } else if (acquire->of_lock) {
    refuse(*acquire, acquire->name(), *result, acquire->proclaimed());
  } else {
    calls_.fail(acquire->call, status_of(*result, Object{acquire->name()}));
  }
  lines_.fetched(*acquire);
}

void Acquires::complete(const Pending& acquire, const Completion& completion, Now now) {
  const SessionCommands::Result result = result_of(completion);
  answered(acquire, completion, result, now);
  commands_.settle(acquire->session, result);
}

void Acquires::queued(const Pending& acquire, Ticket ticket) {
  const bool awaited = calls_.find(acquire->call) != nullptr;
  if (!awaited) take(acquire, AcquireEvent::CallerLeaves);
  take(acquire, AcquireEvent::Waits);
  if (awaited && acquire->of_lock && !acquire->waited) {
    acquire->waited = true;
    table_.statistics().queued();
  }
  requests_.await_end(ticket, acquire);
}

// The engine gave up. If the command may still take effect, only a cancel can find out and undo it. Without its session a
// cancel cannot. A grant to the session is gone with it, and a grant that another process got with the session is not the
// caller's. Queued acquires end this way if a peer's state includes the entries that ended their session.
void Acquires::failed(const Pending& acquire, absl::Status status) {
  const bool unknown = outcome_of(status) == Outcome::Unknown;
  if (unknown && commands_.lost_its_session(acquire->session)) {
    take(acquire, AcquireEvent::Ended);
    calls_.fail(acquire->call, lost_while_acquiring());
    return commands_.settle(acquire->session, machine::Result{.code = machine::ResultCode::Lost});
  }
  const bool can_be_cancelled = unknown && acquire->sequence;
  take(acquire, can_be_cancelled ? AcquireEvent::OutcomeUnknown : AcquireEvent::Ended);
  if (acquire->state == AcquireState::Done) lines_.fetched(*acquire);
  const Call* call = calls_.find(acquire->call);
  if (call != nullptr && call->cancelled) {
    const bool late = reason_of(status) == Reason::CallTimeout;
    status = !unknown ? make_error(Reason::Cancelled, "the acquire never reached the log; the caller does not hold the lock")
             : late   ? make_error(Reason::CancelPending, "the deadline passed before the cancellation was decided")
                      : make_error(Reason::CancelPending,
                                   "the result of the cancellation is not known: " + std::string(sentence_of(status)));
  }
  calls_.fail(acquire->call, std::move(status));
}

void Acquires::granted(const PendingAcquire& acquire, const machine::Result& result, Now now) {
  Session* session = table_.find_live(acquire.session);
  if (session == nullptr) {
    // The pending close, or the end of the session, takes the hold with it.
    calls_.fail(acquire.call, lost_while_acquiring());
    return;
  }
  if (acquire.counted) {
    uint64_t& last = session->make_extension().releases_counted[result.token];
    last = std::max(last, result.releases);
  }
  if (acquire.extension && acquire.extension->block != 0) return lines_.delegated(*session, acquire, result, now);
  if (calls_.find(acquire.call) == nullptr) {
    commands_.give_back(*session, std::string(acquire.name()), result.token, acquire.counted);
    return;
  }
  const Duration max_hold = acquire.max_hold();
  const LeadingTime until = max_hold > Duration::zero() ? later(now.leading, max_hold) : LeadingTime::max();
  HoldRef hold =
      table_.grant(*session, acquire.name(), acquire.owner_tag(), result.token, result.since, until, hold_terms(acquire));
  if (acquire.of_lock) {
    table_.statistics().granted(acquire.time_in_line(now.lagging));
    calls_.answer<HoldRef>(acquire.call, std::move(hold));
  } else {
    calls_.answer<Executed>(acquire.call, Executed{result, result.since, std::move(hold)});
  }
}

void Acquires::refuse(const PendingAcquire& acquire, std::string_view name, const machine::Result& refusal,
                      std::string_view value) {
  const bool proclaims = refusal.code == machine::ResultCode::AlreadyHeld && acquire.proclaims;
  if (proclaims && proclaim(acquire.call, acquire.session, name, refusal.token, value)) return;
  refuse_lock(calls_, table_.statistics(), acquire.call, refusal, name);
}

// A client must not proclaim a hold for which it has no handle. A shared hold leads no election.
bool Acquires::proclaim(CallId id, const SessionRef& of, std::string_view name, Token token, std::string_view value) {
  Call* call = calls_.find(id);
  if (call == nullptr) return false;
  Session* session = table_.find(of);
  const HoldRef* const found = session != nullptr ? session->holds.find(token) : nullptr;
  if (found == nullptr || (*found)->name() != name || (*found)->terms().mode != LockMode::Exclusive) return false;
  const HoldRef hold = *found;
  take(call->acquire, AcquireEvent::Ended);  // its owner has the lock
  call->submitted = true;
  machine::UpdateValue body{session->id(), hold->owner_tag(), std::string(name), token, std::string(value)};
  call->ticket = commands_.submit(*session, {.body = std::move(body)}, call->deadline, Urgency::Normal,
                                  [this, id, hold](const Completion&, const SessionCommands::Result& result, Now) {
                                    const absl::Status status =
                                        result.ok() ? status_of(*result, hold->name()) : result.status();
                                    calls_.answer<HoldRef>(id, status.ok() ? absl::StatusOr<HoldRef>(hold) : status);
                                  });
  return true;
}

// ---- ends of the call

bool Acquires::cancel(Call& call) {
  if (!in_log(call.acquire->state)) return false;
  call.cancelled = true;
  take(call.acquire, AcquireEvent::CallerLeaves);
  return true;
}

void Acquires::abandoned(const Call& call) {
  if (call.acquire->state == AcquireState::InLine) table_.statistics().refused(machine::ResultCode::Cancelled);
}

bool Acquires::pursues(const Call& call) {
  if (!in_log(call.acquire->state)) return false;
  take(call.acquire, AcquireEvent::CallerLeaves);
  return true;
}

void Acquires::ended(CallId id, const Call& call) {
  Session* session = call.acquire->session ? table_.find(call.acquire->session) : nullptr;
  if (session == nullptr) return;
  session->acquires.remove(*call.acquire);
  if (call.acquire->in_line) lines_.leave(*session, id, *call.acquire);
}

// ---- its life (acquire_life.h)

AcquireAction Acquires::take(const Pending& acquire, AcquireEvent event) {
  const AcquireStep taken = step(acquire->state, event);
  acquire->state = taken.next;
  if (taken.action == AcquireAction::PostCancel) post_cancel(acquire);
  return taken.action;
}

void Acquires::post_cancel(const Pending& acquire) {
  Session* session = table_.find_live(acquire->session);
  if (session == nullptr || !is_cancelled(acquire->state)) return;
  machine::CancelAcquire body{.session = session->id(),
                              .owner_tag = std::string(acquire->owner_tag()),
                              .name = std::string(acquire->name()),
                              .acquire = requests_.id(acquire->sequence)};
  commands_.submit(*session, {.body = std::move(body)}, LaggingTime::max(), Urgency::Reserved,
                   [this, acquire](const Completion&, const SessionCommands::Result& result, Now now) {
                     cancel_answered(acquire, result, now);
                   });
}

// A session that left and came back has brought its holds along, this grant included. So this acquire may no longer release it.
void Acquires::cancel_answered(const Pending& acquire, const SessionCommands::Result& result, Now now) {
  if (!result.ok()) {
    const bool again = take(acquire, AcquireEvent::CancelUnanswered) == AcquireAction::RepeatCancel;
    if (again && !requests_.halted()) requests_.retry(now, [this, acquire](Now) { post_cancel(acquire); });
    return;
  }
  const bool decides = acquire->state == AcquireState::Orphaned;
  take(acquire, AcquireEvent::CancelAnswered);
  if (!decides) return;
  lines_.fetched(*acquire);
  Session* session = table_.find(acquire->session);
  const bool late_grant = result->code == machine::ResultCode::Granted;
  if (late_grant && session != nullptr && session->phase != SessionPhase::Lost) {
    commands_.give_back(*session, std::string(acquire->name()), result->token, acquire->counted);
  }
}

}  // namespace coordkit::client
