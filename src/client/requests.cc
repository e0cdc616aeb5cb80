#include "client/requests.h"

#include "coordkit/error.h"

namespace coordkit::client {

void Requests::post(EngineInput input) {
  engine_.post(std::move(input));
  posted_ = true;
}

Ticket Requests::next_ticket(OnCompletion on_completion) {
  const Ticket ticket(++last_ticket_);
  tickets_.emplace(ticket, std::move(on_completion));
  return ticket;
}

Ticket Requests::submit(const machine::Request& request, LaggingTime deadline, Urgency urgency, OnCompletion on_completion) {
  return submit({.command = SharedBytes(machine::encode(request)), .deadline = deadline, .urgency = urgency},
                std::move(on_completion));
}

Ticket Requests::submit(Submit submit, OnCompletion on_completion) {
  const Ticket ticket = submit.ticket = next_ticket(std::move(on_completion));
  post(std::move(submit));
  return ticket;
}

Ticket Requests::when_readable(Ask ask, OnCompletion on_completion) {
  const Ticket ticket = ask.ticket = next_ticket(std::move(on_completion));
  post(std::move(ask));
  return ticket;
}

void Requests::forget(Ticket ticket) {
  tickets_.erase(ticket);
  post(Forget{ticket});
}

const machine::Reads* Requests::reads() const {
  const StateMachine* machine = engine_.machine(kCoordination);
  return machine == nullptr ? nullptr : machine->reads();
}

absl::StatusOr<const machine::Reads*> Requests::reads(const Completion& completion) const {
  if (!completion.status.ok()) return completion.status;
  if (const machine::Reads* state = reads()) return state;
  return make_error(Reason::Unsupported, "this engine does not host coordkit's own machine; give it one");
}

TimerGroup Requests::group(Duration ttl) const {
  return {.node = engine_.self(), .boot = engine_.boot(), .incarnation = engine_.store().value(), .ttl = ttl};
}

void Requests::run_at(LaggingTime at, absl::AnyInvocable<void(Now)> run) {
  timers_.emplace(std::pair(at, ++last_timer_), std::move(run));
}

void Requests::run_due(Now now) {
  while (!timers_.empty() && timers_.begin()->first.first <= now.lagging) {
    auto due = timers_.extract(timers_.begin());
    due.mapped()(now);
  }
}

void Requests::turned(const EngineEffects& effects) {
  posted_ = false;
  halted_ = halted_ || effects.halted.has_value();
}

// What runs may clear everything (a callback that stops the client), and may submit.
void Requests::complete(const Completion& completion, Now now) {
  const auto found = tickets_.find(completion.ticket);
  if (found == tickets_.end()) return;
  OnCompletion on_completion = std::move(found->second);
  tickets_.erase(found);
  on_completion(completion, now);
  const bool once_more = completion.status.ok() && completion.stage == ApplyOutput::Stage::Queued;
  if (once_more) tickets_.emplace(completion.ticket, std::move(on_completion));
}

void Requests::clear() {
  tickets_.clear();
  timers_.clear();
}

}  // namespace coordkit::client
