#include "client/objects/objects.h"

#include "client/calls/answers.h"
#include "client/calls/waits.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

// Whether a wait to leave was decided: then the place is given up, whatever the outcome. NotOwner: it may be a lock instead
// of a place.
bool has_left(const absl::Status& status) {
  const std::optional<Reason> reason = reason_of(status);
  return status.ok() || reason == Reason::Broken || reason == Reason::WaitTimeout || reason == Reason::Lost;
}

const machine::JoinGroup* join_in(const machine::Request& request) {
  const auto* command = std::get_if<machine::CoordinationCommand>(&request.body);
  return command != nullptr ? std::get_if<machine::JoinGroup>(command) : nullptr;
}

}  // namespace

// ---- commands

CallId Objects::command(const SessionRef* session, machine::Request::Body body, std::string subject, CallDeadline deadline,
                        Callback<Executed> done) {
  if (session != nullptr && *session == nullptr) return calls_.refuse(std::move(done), no_session());
  machine::Request request{.body = std::move(body)};
  if (absl::Status refusal = check_request(request); !refusal.ok()) return calls_.refuse(std::move(done), refusal);
  if (session != nullptr && (*session)->phase() == SessionPhase::Lost) return calls_.refuse(std::move(done), session_over());
  const OnAbandon on_abandon = join_in(request) != nullptr ? OnAbandon::Pursue : OnAbandon::Forget;
  return calls_.enter(
      std::move(done), on_abandon, deadline,
      [this, of = session != nullptr ? *session : nullptr, request = std::move(request), subject = std::move(subject)](
          CallId id, Now now) mutable { start_command(id, of, std::move(request), std::move(subject), now); });
}

// S-45: while a previous process of the session may still trust its holds, the log releases none of them.
bool Objects::held_back(const Session& session, const machine::Request::Body& body) {
  const auto* command = std::get_if<machine::CoordinationCommand>(&body);
  return session.previous_trusts && command != nullptr && machine::is_release(*command);
}

// Its owner is a member that no caller knows, and is leaving.
bool Objects::joins_too_soon(const machine::Request& request) const {
  const machine::JoinGroup* join = join_in(request);
  return join != nullptr && leaving_.contains(member_of(*join));
}

// A join is pursued until its outcome is known, so that a member that no caller knows can leave again (docs/semantics.md
// S-59). Another join of the same owner waits for that.
void Objects::start_command(CallId id, const SessionRef& of, machine::Request request, std::string subject, Now now) {
  if (calls_.find(id) == nullptr) return;
  Session* session = of != nullptr ? table_.find_live(of) : nullptr;
  if (of != nullptr && session == nullptr) {
    calls_.fail(id, session_over());
    return;
  }
  if (session != nullptr && (session->overfull() || held_back(*session, request.body) || joins_too_soon(request))) {
    requests_.retry(now, [this, id, of, request = std::move(request), subject = std::move(subject)](Now later) mutable {
      start_command(id, of, std::move(request), std::move(subject), later);
    });
    return;
  }
  Call& call = *calls_.find(id);
  const LaggingTime deadline = call.on_abandon == OnAbandon::Pursue ? LaggingTime::max() : call.deadline;
  call.submitted = true;
  auto on_result = [this, id, of, request, subject = std::move(subject)](const Completion& completion,
                                                                         const SessionCommands::Result& result, Now then) {
    executed(id, of, request, subject, completion.index, result, then);
  };
  if (session != nullptr) {
    call.ticket = commands_.submit(*session, std::move(request), deadline, Urgency::Normal, std::move(on_result));
    return;
  }
  call.ticket = requests_.submit(request, deadline, Urgency::Normal,
                                 [on_result = std::move(on_result)](const Completion& completion, Now then) {
                                   on_result(completion, result_of(completion), then);
                                 });
}

void Objects::executed(CallId id, const SessionRef& session, const machine::Request& request, const std::string& subject,
                       Index index, const SessionCommands::Result& result, Now now) {
  if (result.ok() && result->code == machine::ResultCode::AlreadyExists && joins_too_soon(request)) {
    start_command(id, session, request, subject, now);
  } else if (!result.ok() || result->code != machine::ResultCode::Ok) {
    calls_.fail(id, status_of_command(result, Object{subject}));
  } else if (!calls_.answer<Executed>(id, Executed{*result, index, nullptr})) {
    if (const machine::JoinGroup* join = join_in(request)) leave_again(session, member_of(*join));
  }
}

// Never gives up: the owner cannot join before it has left.
void Objects::leave_again(const SessionRef& of, const Member& member) {
  Session* session = table_.find_live(of);
  if (session == nullptr) {
    leaving_.erase(member);
    return;
  }
  const auto& [id, group, owner] = member;
  machine::LeaveGroup leave{.session = id, .owner_tag = owner, .name = group};
  leaving_.insert(member);
  commands_.submit(*session, {.body = machine::CoordinationCommand(std::move(leave))}, LaggingTime::max(), Urgency::Reserved,
                   [this, of, member](const Completion&, const SessionCommands::Result& result, Now now) {
                     if (result.ok() || requests_.halted()) {
                       leaving_.erase(member);
                     } else {
                       requests_.retry(now, [this, of, member](Now) { leave_again(of, member); });
                     }
                   });
}

// ---- waits

CallId Objects::await(const SessionRef& session, machine::CoordinationCommand body, std::string name, LockWait wait,
                      CallDeadline deadline, OutcomeOfView outcome, Callback<Executed> done) {
  if (session == nullptr) return calls_.refuse(std::move(done), no_session());
  if (absl::Status refusal = check_request({.body = body}); !refusal.ok()) return calls_.refuse(std::move(done), refusal);
  if (session->phase() == SessionPhase::Lost) return calls_.refuse(std::move(done), session_over());
  const CallId id = calls_.enter(std::move(done), OnAbandon::Pursue, deadline, wait,
                                 [this, session, waiting = Waiting{std::move(body), std::move(name), std::move(outcome)}](
                                     CallId call, Now now) mutable { start_await(call, session, std::move(waiting), now); });
  acquires_.own(id);
  return id;
}

void Objects::start_await(CallId id, const SessionRef& of, Waiting waiting, Now now) {
  Session* session = acquires_.begin(id, of, now);
  if (session == nullptr) return;
  if (session->overfull() || held_back(*session, waiting.body)) {
    requests_.retry(now, [this, id, of, waiting = std::move(waiting)](Now later) mutable {
      start_await(id, of, std::move(waiting), later);
    });
  } else if (predicted_refusal(*session, waiting)) {
    confirm(id, of, std::move(waiting));
  } else {
    submit(id, std::move(waiting));
  }
}

// Judged by this replica's own state, possibly stale. If a release of ours is pending, the try is worth an entry, which
// performs it.
bool Objects::predicted_refusal(const Session& session, const Waiting& waiting) const {
  if (!waiting.outcome.judge) return false;
  if (session.releases.any([&](const PendingRelease& release) { return release.name == waiting.name; })) return false;
  const machine::Reads* state = requests_.reads();
  return state != nullptr && waiting.outcome.judge(state->object(waiting.outcome.kind, waiting.name, 1)).has_value();
}

void Objects::confirm(CallId id, const SessionRef& session, Waiting waiting) {
  Call& call = *calls_.find(id);
  machine::ObjectOf question{waiting.outcome.kind, waiting.name, 1};
  call.ticket = requests_.ask({.deadline = call.deadline}, std::move(question),
                              [this, id, session, waiting = std::move(waiting)](const machine::ObjectOf&, const auto& view,
                                                                                const Completion& completion, Now) mutable {
                                if (calls_.find(id) == nullptr) return;
                                if (!view.ok()) return static_cast<void>(calls_.fail(id, view.status()));
                                const auto code = waiting.outcome.judge(*view);
                                if (!code) return submit(id, std::move(waiting));
                                if (*code == machine::ResultCode::Ok) {
                                  calls_.answer<Executed>(id, Executed{{}, completion.index, nullptr});
                                } else {
                                  calls_.fail(id, status_of({.code = *code}, Object{waiting.name}));
                                }
                              });
}

void Objects::submit(CallId id, Waiting waiting) {
  Call& call = *calls_.find(id);
  acquires_.submit(call, {.name = waiting.name}, {.body = std::move(waiting.body)});
}

// The place is invalid from here on. If the outcome is unknown, the leave is repeated, without a wait, for as long as it
// takes.
CallId Objects::leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline) {
  if (place == nullptr) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::InvalidArgument, "no place was given; pass the one that enter() answered"));
  }
  place->invalidate();
  const SessionRef& of = place->session();
  Session* session = table_.find_live(of);
  if (session == nullptr) return calls_.refuse(std::move(done), session_over());
  if (!table_.forget(*session, place)) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::NotOwner, "the place was left before; there is nothing left to do"));
  }
  machine::LeaveBarrier body{.session = of->id(), .name = place->name(), .wait = wait_of(wait), .token = place->token()};
  return await(of, std::move(body), place->name(), wait, deadline, {},
               [this, place, done = std::move(done)](absl::StatusOr<Executed> executed) mutable {
                 const absl::Status& status = executed.status();
                 Session* owner = table_.find_live(place->session());
                 if (owner != nullptr && !has_left(status)) {
                   commands_.give_back(*owner, place->name(), place->token(), place->counted());
                 }
                 done(status);
               });
}

// Pursued until decided: the item must not come back because an answer was lost. A claim whose handle has gone meanwhile is
// given back if its acknowledgement was not sent, or not executed.
CallId Objects::acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline) {
  if (claim == nullptr) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::InvalidArgument, "no claim was given; pass the one that claim() answered"));
  }
  const SessionRef& of = claim->session();
  Session* session = table_.find_live(of);
  if (session == nullptr) return calls_.refuse(std::move(done), session_over());
  if (!session->holds.contains(claim)) {
    return calls_.refuse(std::move(done),
                         make_error(Reason::NotOwner, "the claim is over already; another session may have the item"));
  }
  machine::Request request{.body = machine::CoordinationCommand(
                               machine::AcknowledgeItem{.session = of->id(), .name = claim->name(), .token = claim->token()})};
  DoneCallback answer = [this, claim, done = std::move(done)](absl::Status status) mutable {
    if (!status.ok() && outcome_of(status) == Outcome::NoEffect) not_acknowledged(claim);
    std::move(done)(std::move(status));
  };
  return calls_.enter(std::move(answer), OnAbandon::Persist, deadline,
                      [this, claim, request = std::move(request)](CallId id, Now now) mutable {
                        calls_.find(id)->submitted = true;
                        start_acknowledge(id, claim, std::move(request), now);
                      });
}

void Objects::not_acknowledged(const HoldRef& claim) {
  Session* session = table_.find_live(claim->session());
  if (session == nullptr || !claim->released()) return;
  commands_.give_back(*session, claim);
}

void Objects::start_acknowledge(CallId id, const HoldRef& claim, machine::Request request, Now now) {
  Session* session = table_.find_live(claim->session());
  if (session == nullptr) {
    calls_.fail(id, session_over());
    return;
  }
  if (held_back(*session, request.body)) {
    requests_.retry(now, [this, id, claim, request = std::move(request)](Now later) mutable {
      start_acknowledge(id, claim, std::move(request), later);
    });
    return;
  }
  const Ticket ticket = commands_.submit(*session, std::move(request), LaggingTime::max(), Urgency::Reserved,
                                         [this, id, claim](const Completion&, const SessionCommands::Result& result, Now) {
                                           if (result.ok()) {
                                             claim->invalidate();
                                             if (result->code == machine::ResultCode::NotOwner) not_acknowledged(claim);
                                             if (Session* owner = table_.find(claim->session())) table_.forget(*owner, claim);
                                           } else {
                                             not_acknowledged(claim);
                                           }
                                           calls_.answer_done(id, status_of_command(result, Object{claim->name()}));
                                         });
  if (Call* call = calls_.find(id)) call->ticket = ticket;
}

// ---- resumes

// The list is exact, as for locks (Locks::adopt()).
void Objects::adopt(Session& session, std::vector<machine::OwnedObject> objects, ResumedSession& resumed) {
  const auto taken = [&](const machine::OwnedObject& object) {
    return table_.adopt(session, object.name, {}, object.token, object.since, {});
  };
  for (machine::OwnedObject& object : objects) {
    switch (object.kind) {
      case coordination::Kind::Semaphore: resumed.permits.push_back({taken(object), object.count}); break;
      case coordination::Kind::DoubleBarrier: resumed.places.push_back(taken(object)); break;
      case coordination::Kind::Queue:
        resumed.items.push_back({taken(object), object.id, object.count, std::move(object.value)});
        break;
      case coordination::Kind::Group:
        resumed.memberships.push_back({object.name, object.owner, object.id, std::move(object.value)});
        break;
      default: break;
    }
  }
}

}  // namespace coordkit::client
