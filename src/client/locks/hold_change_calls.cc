#include "client/locks/hold_change_calls.h"

#include <utility>

#include "client/calls/answers.h"
#include "coordkit/error.h"

namespace coordkit::client {

// The reason why this hold cannot be changed; OK: it can.
absl::Status HoldChanges::refusal_of(const HoldRef& hold) {
  if (hold == nullptr) return no_grant();
  Session* session = table_.find_live(hold->session());
  if (session == nullptr) return session_over();
  const bool known = hold->delegation() ? session->state->delegations()->current(*hold) : session->holds.contains(hold);
  if (!hold->released() && known) return absl::OkStatus();
  return make_error(Reason::NotOwner, "the grant was released or lost before; acquire it again");
}

// ---- another mode

CallId HoldChanges::convert(const HoldRef& hold, LockMode to, Callback<HoldRef> done, CallDeadline deadline) {
  if (absl::Status why = refusal_of(hold); !why.ok()) return calls_.refuse(std::move(done), why);
  if (hold->delegation()) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::InvalidArgument, "a sticky grant keeps its mode; acquire without sticky"));
  }
  if (hold->suspended()) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::InvalidArgument, "another change of this grant is under way; wait for its answer"));
  }
  // T8: an exclusive hold that becomes shared is invalid from here on, until it is known that the change had no effect.
  if (to == LockMode::Shared) SessionWriter::suspend(*hold, true);
  const CallId id = calls_.enter(std::move(done), OnAbandon::Persist, deadline,
                                 [this, hold, to](CallId call, Now now) { start(call, hold, to, now); });
  if (Call* call = calls_.find(id); call != nullptr && hold->suspended()) {
    suspended_.emplace(id, hold);
    call->owner = this;
  }
  return id;
}

void HoldChanges::ended(CallId id, const Call& call) {
  const auto suspended = suspended_.extract(id);
  if (!suspended.empty() && !call.submitted) SessionWriter::suspend(*suspended.mapped(), false);
}

// A downgrade lets other owners in. So, like releases, it is delayed while a previous process may trust the session (S-45).
void HoldChanges::start(CallId id, const HoldRef& hold, LockMode to, Now now) {
  if (calls_.find(id) == nullptr) return;
  if (absl::Status why = refusal_of(hold); !why.ok()) {
    calls_.fail(id, std::move(why));
    return;
  }
  Session& session = *table_.find(hold->session());
  if (session.previous_trusts && to == LockMode::Shared) {
    requests_.retry(now, [this, id, hold, to](Now later) { start(id, hold, to, later); });
    return;
  }
  calls_.find(id)->submitted = true;
  machine::Request request;
  if (to == LockMode::Shared) {
    request.body = machine::Downgrade{session.id(), hold->owner_tag(), hold->name(), hold->token()};
  } else {
    request.body = machine::Upgrade{session.id(), hold->owner_tag(), hold->name(), hold->token()};
  }
  const Urgency urgency = to == LockMode::Shared ? Urgency::Reserved : Urgency::Normal;
  commands_.submit(session, std::move(request), LaggingTime::max(), urgency,
                   [this, id, hold, to](const Completion&, const SessionCommands::Result& result, Now then) {
                     converted(id, hold, to, result, then);
                   });
}

void HoldChanges::converted(CallId id, const HoldRef& hold, LockMode to, const SessionCommands::Result& result, Now now) {
  if (!result.ok() && outcome_of(result.status()) != Outcome::NoEffect) return outcome_lost(id, hold, result.status(), now);
  Session* session = table_.find_live(hold->session());
  if (session == nullptr) {
    calls_.fail(id, make_error(Reason::Lost, "the session ended while the change was under way"));
    return;
  }
  if (result.ok() && result->code == machine::ResultCode::Granted) return replace(id, *session, hold, to, *result);
  if (to == LockMode::Shared) SessionWriter::suspend(*hold, false);
  const bool impossible = result.ok() && result->code == machine::ResultCode::InvalidArgument;
  calls_.fail(id, !result.ok() ? result.status()
                  : impossible
                      ? make_error(Reason::InvalidArgument,
                                   "the grant has that mode already, is held several times over, or is on several names")
                      : status_of(*result, hold->name()));
}

void HoldChanges::replace(CallId id, Session& session, const HoldRef& hold, LockMode to, const machine::Result& result) {
  if (calls_.find(id) == nullptr || hold->released()) {  // the owner must learn that its hold is over
    table_.lose(session, hold->token());
    commands_.give_back(session, hold, result.token);
    calls_.fail(id, make_error(Reason::NotOwner, Outcome::Done, "the grant was released while the change was under way"));
    return;
  }
  HoldTerms terms = hold->terms();
  terms.mode = to;
  HoldRef fresh = table_.replace(session, hold, result.token, result.since, std::move(terms));
  calls_.answer<HoldRef>(id, std::move(fresh));
}

// The hold can no longer be trusted, whatever its token is now. It is looked up and released.
void HoldChanges::outcome_lost(CallId id, const HoldRef& hold, absl::Status why, Now now) {
  if (Session* session = table_.find(hold->session())) table_.lose(*session, hold->token());
  calls_.fail(id, std::move(why));
  reclaim(hold, now);
}

void HoldChanges::reclaim(const HoldRef& hold, Now now) {
  Session* session = requests_.halted() ? nullptr : table_.find_live(hold->session());
  if (session == nullptr) return;
  machine::HeldBy question{hold->name(), session->id(), hold->owner_tag()};
  requests_.ask({.deadline = requests_.retry_time(now)}, std::move(question),
                [this, hold](const machine::HeldBy&, const auto& token, const Completion&, Now later) {
                  Session* owner = table_.find_live(hold->session());
                  if (owner == nullptr) return;
                  if (!token.ok()) {
                    requests_.retry(later, [this, hold](Now again) { reclaim(hold, again); });
                  } else if (*token) {
                    commands_.give_back(*owner, hold->name(), **token, hold->counted());
                  }
                });
}

// ---- another value

CallId HoldChanges::update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline) {
  if (absl::Status why = refusal_of(hold); !why.ok()) return calls_.refuse(std::move(done), why);
  machine::Request request{
      .body = machine::UpdateValue{hold->session()->id(), hold->owner_tag(), hold->name(), hold->token(), std::move(value)}};
  if (absl::Status why = check_request(request); !why.ok()) return calls_.refuse(std::move(done), why);
  return calls_.enter(
      std::move(done), OnAbandon::Forget, deadline,
      [this, hold, request = std::move(request)](CallId id, Now) mutable { start_update(id, hold, std::move(request)); });
}

void HoldChanges::start_update(CallId id, const HoldRef& hold, machine::Request&& request) {
  if (absl::Status why = refusal_of(hold); !why.ok()) {
    calls_.fail(id, std::move(why));
    return;
  }
  Call& call = *calls_.find(id);
  call.submitted = true;
  call.ticket = commands_.submit(*table_.find(hold->session()), std::move(request), call.deadline, Urgency::Normal,
                                 [this, id, hold](const Completion&, const SessionCommands::Result& result, Now) {
                                   calls_.answer_done(id, status_of_command(result, Object{hold->name()}));
                                 });
}

// ---- findings

void HoldChanges::token_refuted(const HoldRef& hold) {
  Session* session = table_.find(hold->session());
  if (session == nullptr) return;
  if (!hold->delegation()) return table_.lose(*session, hold->token());
  if (session->state->delegations()->current(*hold)) lines_.lose(*session, hold);
}

// For a counted hold only this handle ends: the other handles have their own times.
void HoldChanges::end_long_holds(LeadingTime now) {
  while (const HoldRef hold = table_.limits().take_over(now)) {
    Session* session = table_.find(hold->session());
    if (session != nullptr && hold->delegation()) {
      if (session->state->delegations()->current(*hold)) lines_.lose(*session, hold);
      continue;
    }
    if (session == nullptr || !session->holds.contains(hold)) continue;  // already lost
    table_.lose(*session, hold);
    commands_.give_back(*session, hold->name(), hold->token(), hold->counted());
  }
}

}  // namespace coordkit::client
