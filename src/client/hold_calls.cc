// Changes of a hold that stays: another mode, another value (docs/semantics.md S-46).
//
// A conversion gives the hold a new token and kills the former. So it is pursued until its fate is known, whatever becomes of
// its caller, and a new hold that nobody waits for is given back: nothing stays held that nobody knows of (S-59).
#include "base/mutant.h"
#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {

// Why this hold cannot be changed; OK: it is one that is.
absl::Status Client::Impl::refuse_change(const HoldRef& hold) {
  if (hold == nullptr) return make_error(Reason::InvalidArgument, "no grant was given; pass the one that acquire() answered");
  Session* session = same_life(hold->session());
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    return make_error(Reason::Lost, "the session ended before, and the hold with it; open a new one");
  }
  const bool known =
      hold->delegation() ? session->state->delegations()->current(*hold) : client::SessionTable::holds(*session, hold);
  if (!hold->released() && known) return absl::OkStatus();
  return make_error(Reason::NotOwner, "the grant was released or lost before; acquire anew");
}

CallId Client::Impl::convert(const HoldRef& hold, LockMode to, Callback<HoldRef> done, CallDeadline deadline) {
  if (absl::Status why = refuse_change(hold); !why.ok()) return refuse(std::move(done), why);
  if (hold->delegation()) {
    return refuse(std::move(done),
                  make_error(Reason::InvalidArgument, "a sticky grant keeps its mode; acquire without sticky"));
  }
  if (hold->suspended()) {
    return refuse(std::move(done),
                  make_error(Reason::InvalidArgument, "another change of this grant is under way; wait for its answer"));
  }
  // T8: an exclusive hold that becomes shared is none from here on, until it is known that nothing came of it.
  if (to == LockMode::Shared && !mutant(Mutant::DowngradeStaysValid)) SessionWriter::suspend(*hold, true);
  const CallId id = enter(std::move(done), Fate::Persist, deadline, options_.call_timeout,
                          [this, hold, to](CallId call, Now now) { start_convert(call, hold, to, now); });
  if (Call* call = find(id); call != nullptr && hold->suspended()) call->suspends = hold;
  return id;
}

// A downgrade lets others in, so a session that settles holds it back as it does its releases (S-45).
void Client::Impl::start_convert(CallId id, const HoldRef& hold, LockMode to, Now now) {
  if (find(id) == nullptr) return;
  if (absl::Status why = refuse_change(hold); !why.ok()) {
    fail(id, std::move(why));
    return;
  }
  Session& session = *same_life(hold->session());
  if (session.settling && to == LockMode::Shared) {
    run_later(retry_time(now), [this, id, hold, to](Now later) { start_convert(id, hold, to, later); });
    return;
  }
  find(id)->submitted = true;
  machine::Request request;
  if (to == LockMode::Shared) {
    request.body = machine::Downgrade{session.id(), hold->owner_tag(), hold->name(), hold->token()};
  } else {
    request.body = machine::Upgrade{session.id(), hold->owner_tag(), hold->name(), hold->token()};
  }
  const Urgency urgency = to == LockMode::Shared ? Urgency::Reserved : Urgency::Normal;
  submit_for(session, std::move(request), LaggingTime::max(), urgency,
             [this, id, hold, to](const Completion& completion, Now then) { converted(id, hold, to, completion, then); });
}

void Client::Impl::converted(CallId id, const HoldRef& hold, LockMode to, const Completion& completion, Now now) {
  const auto result = client::result_of(completion);
  if (!result.ok() && outcome_of(result.status()) != Outcome::None) return conversion_lost(id, hold, result.status(), now);
  Session* session = same_life(hold->session());
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    fail(id, make_error(Reason::Lost, "the session ended while the change was under way"));
    return;
  }
  if (!result.ok() || result->code != machine::ResultCode::Granted) {
    if (to == LockMode::Shared) SessionWriter::suspend(*hold, false);
    const bool impossible = result.ok() && result->code == machine::ResultCode::InvalidArgument;
    fail(id, !result.ok() ? result.status()
             : impossible ? make_error(Reason::InvalidArgument,
                                       "the grant has that mode already, is held several times over, or is on several names")
                          : client::status_of(*result, hold->name()));
    return;
  }
  unlimit_hold(hold);
  if (find(id) == nullptr || hold->released()) {  // the owner is to hear that what it held is over
    sessions_.lose(*session, hold->token());
    if (!mutant(Mutant::LateConversionKept)) give_back(*session, hold->name(), result->token, hold->terms().counted);
    fail(id, make_error(Reason::NotOwner, Outcome::Done, "the grant was released while the change was under way"));
    return;
  }
  sessions_.forget(*session, hold);
  SessionWriter::lose(*hold);
  HoldTerms terms = hold->terms();
  terms.mode = to;
  HoldRef fresh =
      sessions_.grant(*session, hold->name(), hold->owner_tag(), result->token, result->since, hold->until(), std::move(terms));
  limit_hold(fresh);
  answer<HoldRef>(id, std::move(fresh));
}

// Nobody can say what became of it. The hold is not to be trusted any more, under whichever token it lives on; it is looked for
// and given back.
void Client::Impl::conversion_lost(CallId id, const HoldRef& hold, absl::Status why, Now now) {
  if (Session* session = same_life(hold->session())) sessions_.lose(*session, hold->token());
  fail(id, std::move(why));
  reclaim(hold, now);
}

void Client::Impl::reclaim(const HoldRef& hold, Now now) {
  Session* session = halted_ ? nullptr : same_life(hold->session());
  if (session == nullptr || session->phase == SessionPhase::Lost) return;
  ask_engine({.deadline = retry_time(now)}, [this, hold](const Completion& completion, Now later) {
    Session* owner = same_life(hold->session());
    if (owner == nullptr || owner->phase == SessionPhase::Lost) return;
    const auto state = readable(completion);
    if (!state.ok()) {
      run_later(retry_time(later), [this, hold](Now again) { reclaim(hold, again); });
      return;
    }
    for (const machine::HolderInfo& holder : (*state)->holders_of(hold->name()).holders) {
      const bool ours = holder.session == owner->id() && holder.owner_tag == hold->owner_tag();
      if (ours) give_back(*owner, hold->name(), holder.token, hold->terms().counted);
    }
  });
}

CallId Client::Impl::update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline) {
  if (absl::Status why = refuse_change(hold); !why.ok()) return refuse(std::move(done), why);
  machine::UpdateValue body{hold->session()->id(), hold->owner_tag(), hold->name(), hold->token(), std::move(value)};
  if (absl::Status door = client::check_request({.body = body}); !door.ok()) return refuse(std::move(done), door);
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, hold, body = std::move(body)](CallId id, Now) mutable {
                 if (absl::Status why = refuse_change(hold); !why.ok()) {
                   fail(id, std::move(why));
                   return;
                 }
                 Call& call = *find(id);
                 call.submitted = true;
                 Session& session = *same_life(hold->session());
                 call.ticket =
                     submit_for(session, {.body = std::move(body)}, call.deadline, Urgency::Normal,
                                [this, id, hold](const Completion& completion, Now) {
                                  const auto result = client::result_of(completion);
                                  answer_done(id, result.ok() ? client::status_of(*result, hold->name()) : result.status());
                                });
               });
}

}  // namespace coordkit
