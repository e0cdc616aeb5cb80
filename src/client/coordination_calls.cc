// Semaphores, barriers and the like as calls: one way for commands, one for what may wait, one for questions, and the
// observers. The calls themselves, with their types, stand in a file per kind (semaphore_calls.cc and so on).
#include <utility>

#include "base/mutant.h"
#include "client/impl.h"
#include "client/waits.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

absl::Status no_session() { return make_error(Reason::InvalidArgument, "no session was given; open one first"); }
absl::Status session_over() { return make_error(Reason::Lost, "the session has ended; open a new one"); }

// Whether a wait to leave was decided: then the place is given up, whatever else is said.
bool has_left(const absl::Status& status) {
  const std::optional<Reason> reason = reason_of(status);
  return status.ok() || reason == Reason::NotOwner || reason == Reason::Broken || reason == Reason::WaitTimeout ||
         reason == Reason::Lost;
}

}  // namespace

// ---- commands

CallId Client::Impl::command(const SessionRef* session, machine::Request::Body body, std::string subject, CallDeadline deadline,
                             Callback<Executed> done) {
  if (session != nullptr && *session == nullptr) return refuse(std::move(done), no_session());
  machine::Request request{.body = std::move(body)};
  if (absl::Status door = client::check_request(request); !door.ok()) return refuse(std::move(done), door);
  if (session != nullptr && (*session)->phase() == SessionPhase::Lost) return refuse(std::move(done), session_over());
  const auto* command = std::get_if<machine::CoordinationCommand>(&request.body);
  const bool joins = command != nullptr && std::holds_alternative<machine::JoinGroup>(*command);
  return enter(std::move(done), joins ? Fate::Pursue : Fate::Forget, deadline, options_.call_timeout,
               [this, of = session != nullptr ? *session : nullptr, request = std::move(request), subject = std::move(subject)](
                   CallId id, Now now) mutable { start_command(id, of, std::move(request), std::move(subject), now); });
}

// S-45: while a former process of the session may still trust what it has, none of it is let go in the log.
bool Client::Impl::holds_back(const Session& session, const machine::Request::Body& body) {
  const auto* command = std::get_if<machine::CoordinationCommand>(&body);
  return session.settling && command != nullptr && machine::lets_go(*command) && !mutant(Mutant::ResumedLetsGo);
}

// A join is pursued until its fate is known, so that a member nobody knows of can leave again (docs/semantics.md S-59).
void Client::Impl::start_command(CallId id, const SessionRef& of, machine::Request request, std::string subject, Now now) {
  if (find(id) == nullptr) return;
  Session* session = of != nullptr ? same_life(of) : nullptr;
  if (of != nullptr && (session == nullptr || session->phase == SessionPhase::Lost)) {
    fail(id, session_over());
    return;
  }
  if (session != nullptr && (session->overfull() || holds_back(*session, request.body))) {
    run_later(retry_time(now), [this, id, of, request = std::move(request), subject = std::move(subject)](Now later) mutable {
      start_command(id, of, std::move(request), std::move(subject), later);
    });
    return;
  }
  Call& call = *find(id);
  const LaggingTime deadline = call.fate == Fate::Pursue ? LaggingTime::max() : call.deadline;
  call.submitted = true;
  auto on_completion = [this, id, of, request, subject = std::move(subject)](const Completion& completion, Now) {
    command_answered(id, of, request, subject, completion);
  };
  call.ticket = session != nullptr
                    ? submit_for(*session, std::move(request), deadline, Urgency::Normal, std::move(on_completion))
                    : submit(request, deadline, Urgency::Normal, std::move(on_completion));
}

void Client::Impl::command_answered(CallId id, const SessionRef& of, const machine::Request& request,
                                    const std::string& subject, const Completion& completion) {
  const auto result = client::result_of(completion);
  if (!result.ok() || result->code != machine::ResultCode::Ok) {
    fail(id, result.ok() ? client::status_of(*result, subject) : result.status());
    return;
  }
  if (find(id) != nullptr) {
    answer<Executed>(id, Executed{*result, completion.index, nullptr});
    return;
  }
  const auto* command = std::get_if<machine::CoordinationCommand>(&request.body);
  const auto* join = command != nullptr ? std::get_if<machine::JoinGroup>(command) : nullptr;
  Session* session = join != nullptr ? same_life(of) : nullptr;
  if (session == nullptr || session->phase == SessionPhase::Lost || mutant(Mutant::LateJoinKept)) return;
  machine::LeaveGroup leave{.session = join->session, .owner_tag = join->owner_tag, .name = join->name};
  submit_for(*session, {.body = machine::CoordinationCommand(std::move(leave))}, LaggingTime::max(), Urgency::Reserved,
             [](const Completion&, Now) {});
}

// ---- what may wait

CallId Client::Impl::await(const SessionRef& session, machine::CoordinationCommand body, std::string name, LockWait wait,
                           CallDeadline deadline, client::Foresight foresight, Callback<Executed> done) {
  if (session == nullptr) return refuse(std::move(done), no_session());
  if (absl::Status door = client::check_request({.body = body}); !door.ok()) return refuse(std::move(done), door);
  if (session->phase() == SessionPhase::Lost) return refuse(std::move(done), session_over());
  return enter(
      std::move(done), Fate::Pursue, deadline, client::patience_of(wait, options_),
      [this, of = session, body = std::move(body), name = std::move(name), foresight = std::move(foresight)](
          CallId id, Now now) mutable { start_await(id, of, std::move(body), std::move(name), std::move(foresight), now); });
}

void Client::Impl::start_await(CallId id, const SessionRef& of, machine::CoordinationCommand body, std::string name,
                               client::Foresight foresight, Now now) {
  if (find(id) == nullptr) return;
  Session* session = same_life(of);
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    fail(id, session_over());
    return;
  }
  session->acquires.insert(id);
  find(id)->session = of;
  if (session->overfull() || holds_back(*session, body)) {
    run_later(retry_time(now),
              [this, id, of, body = std::move(body), name = std::move(name), foresight = std::move(foresight)](
                  Now later) mutable { start_await(id, of, std::move(body), std::move(name), std::move(foresight), later); });
    return;
  }
  Flight flight{.call = id, .session = of, .name = std::move(name)};
  if (foreseen(*session, flight.name, foresight)) {
    confirm(id, std::move(flight), std::move(body), std::move(foresight));
  } else {
    submit_flight(std::move(flight), std::move(body));
  }
}

// By this replica's own state, perhaps old. A release of ours under way makes it worth an entry, which performs it.
std::optional<machine::ResultCode> Client::Impl::foreseen(const Session& session, const std::string& name,
                                                          const client::Foresight& foresight) const {
  if (!foresight.judge) return std::nullopt;
  for (const client::PendingRelease& release : session.releases) {
    if (release.name == name) return std::nullopt;
  }
  const machine::Reads* state = reads();
  return state ? foresight.judge(state->object(foresight.kind, name, 1)) : std::nullopt;
}

void Client::Impl::confirm(CallId id, Flight flight, machine::CoordinationCommand body, client::Foresight foresight) {
  Call& call = *find(id);
  call.ticket =
      ask_engine({.deadline = call.deadline}, [this, id, flight = std::move(flight), body = std::move(body),
                                               foresight = std::move(foresight)](const Completion& completion, Now) mutable {
        if (find(id) == nullptr) return;
        const auto state = readable(completion);
        if (!state.ok()) return static_cast<void>(fail(id, state.status()));
        const auto code = foresight.judge((*state)->object(foresight.kind, flight.name, 1));
        if (!code) return submit_flight(std::move(flight), std::move(body));
        if (*code == machine::ResultCode::Ok) {
          answer<Executed>(id, Executed{{}, completion.index, nullptr});
        } else {
          fail(id, client::status_of({.code = *code}, flight.name));
        }
      });
}

// The place is not valid from here on. If it is not known that it was left, it is, without a wait, for as long as it takes.
CallId Client::Impl::leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline) {
  if (place == nullptr)
    return refuse(std::move(done),
                  make_error(Reason::InvalidArgument, "no place was given; pass the one that enter() answered"));
  if (!place->invalidate()) {
    return refuse(std::move(done), make_error(Reason::NotOwner, "the place was left before; there is nothing left to do"));
  }
  machine::LeaveBarrier body{
      .session = place->session()->id(), .name = place->name(), .wait = client::wait_of(wait), .token = place->token()};
  return await(place->session(), std::move(body), place->name(), wait, deadline, {},
               [this, place, done = std::move(done)](absl::StatusOr<Executed> executed) mutable {
                 const absl::Status status = executed.status();
                 Session* session = same_life(place->session());
                 if (session != nullptr && session->phase != SessionPhase::Lost) {
                   if (!has_left(status)) give_back(*session, place);
                   forget_hold(*session, place);
                 }
                 done(status);
               });
}

// Pursued until decided: the item must not come back because an answer was lost.
CallId Client::Impl::acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline) {
  if (claim == nullptr)
    return refuse(std::move(done),
                  make_error(Reason::InvalidArgument, "no claim was given; pass the one that claim() answered"));
  if (claim->released())
    return refuse(std::move(done), make_error(Reason::NotOwner, "the claim is over already; somebody else may have the item"));
  const SessionRef& of = claim->session();
  if (of->phase() == SessionPhase::Lost) return refuse(std::move(done), session_over());
  machine::Request request{.body = machine::CoordinationCommand(
                               machine::AcknowledgeItem{.session = of->id(), .name = claim->name(), .token = claim->token()})};
  return enter(std::move(done), Fate::Persist, deadline, options_.call_timeout,
               [this, claim, request = std::move(request)](CallId id, Now now) mutable {
                 find(id)->submitted = true;
                 start_acknowledge(id, claim, std::move(request), now);
               });
}

void Client::Impl::start_acknowledge(CallId id, const HoldRef& claim, machine::Request request, Now now) {
  Session* session = same_life(claim->session());
  if (session == nullptr || session->phase == SessionPhase::Lost) {
    fail(id, session_over());
    return;
  }
  if (holds_back(*session, request.body)) {
    run_later(retry_time(now), [this, id, claim, request = std::move(request)](Now later) mutable {
      start_acknowledge(id, claim, std::move(request), later);
    });
    return;
  }
  const Ticket ticket = submit_for(*session, std::move(request), LaggingTime::max(), Urgency::Reserved,
                                   [this, id, claim](const Completion& completion, Now) {
                                     const auto result = client::result_of(completion);
                                     if (result.ok()) end_hold(claim);
                                     answer_done(id, result.ok() ? client::status_of(*result, claim->name()) : result.status());
                                   });
  if (Call* call = find(id)) call->ticket = ticket;
}

void Client::Impl::forget_hold(Session& session, const HoldRef& hold) {
  if (client::SessionTable::holds(session, hold)) sessions_.forget(session, hold);
}

void Client::Impl::end_hold(const HoldRef& hold) {
  hold->invalidate();
  if (Session* session = same_life(hold->session())) forget_hold(*session, hold);
}

// ---- questions

CallId Client::Impl::look(coordination::Kind kind, std::string name, uint64_t limit, CallDeadline deadline,
                          Callback<Looked> done) {
  absl::Status door = client::check_lock_name(name);
  return read<Looked>({.deadline = deadline, .door = std::move(door)}, std::move(done),
                      [kind, name = std::move(name), limit](const machine::Reads& state, const Completion& completion) {
                        return Looked{state.object(kind, name, limit), completion.index};
                      });
}

CallId Client::Impl::leader(std::string name, Callback<std::optional<LeaderInfo>> done, CallDeadline deadline) {
  absl::Status door = client::check_lock_name(name);
  return read<std::optional<LeaderInfo>>({.deadline = deadline, .door = std::move(door)}, std::move(done),
                                         [name = std::move(name)](const machine::Reads& state, const Completion&) {
                                           return client::leader_of(state.holders_of(name));
                                         });
}

// ---- observers

ObserverId Client::Impl::observe(client::Observers::Target target) {
  return stopped_ ? ObserverId() : observers_.add(std::move(target));
}

// One linearizable question each. Those that failed are asked again at the pace of all retries.
void Client::Impl::ask_for_observers(Now now) {
  for (const client::Observers::Question& question : observers_.to_ask()) {
    ask_engine({.deadline = now.lagging + options_.call_timeout}, [this, question](const Completion& completion, Now) {
      if (const auto state = readable(completion); state.ok()) {
        observers_.answered(question, **state, completion.index);
      } else {
        observers_.failed(question);
      }
    });
  }
  if (!observers_.any_to_retry() || retrying_observers_ || halted_) return;
  retrying_observers_ = true;
  run_later(retry_time(now), [this](Now) {
    retrying_observers_ = false;
    observers_.retry();
  });
}

}  // namespace coordkit
