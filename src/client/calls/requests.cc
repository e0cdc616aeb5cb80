#include "client/calls/requests.h"

#include "coordkit/error.h"

namespace coordkit::client {

Ticket Requests::next_ticket(OnCompletion&& on_completion, std::optional<LaggingTime> submitted) {
  return tickets_.add([&](Ticket) { return pending_.emplace(std::move(on_completion), submitted); });
}

SharedBytes Requests::encoded(const machine::Request& request) {
  machine::encode(request, scratch_);
  return keep(scratch_);
}

Ticket Requests::submit(const machine::Request& request, LaggingTime deadline, Urgency urgency, OnCompletion&& on_completion,
                        Ticket after) {
  return submit({.command = encoded(request),
                 .deadline = deadline,
                 .urgency = urgency,
                 .answer_bytes_max = machine::answer_bytes_max(request),
                 .after = after},
                std::move(on_completion));
}

Ticket Requests::submit(Submit&& submit, OnCompletion&& on_completion) {
  const Ticket ticket = submit.ticket = next_ticket(std::move(on_completion), now_);
  ++statistics_.submitted;
  post(std::move(submit));
  return ticket;
}

Ticket Requests::ask(Ask ask, OnCompletion on_completion) {
  const Ticket ticket = ask.ticket = next_ticket(std::move(on_completion), std::nullopt);
  post(std::move(ask));
  return ticket;
}

void Requests::forget(Ticket ticket) {
  if (const Waiting* found = tickets_.find(ticket)) {
    const PoolRef<Request> request = found->first();
    if (request && request->submitted) ++statistics_.refused;
    tickets_.remove(ticket);
  }
  post(Forget{ticket});
}

void Requests::await_end(Ticket ticket, PoolRef<PendingAcquire> acquire) {
  if (Waiting* const found = tickets_.find(ticket)) *found = std::move(acquire);
}

const machine::Reads* Requests::reads() const {
  const StateMachine* machine = engine_.machine(kCoordination);
  return machine == nullptr ? nullptr : machine->reads();
}

absl::Status Requests::no_machine() {
  return make_error(Reason::Unsupported, "this engine does not host coordkit's own machine; give it one");
}

TimerGroup Requests::group(Duration ttl) const {
  return {.node = engine_.self(), .boot = engine_.boot(), .incarnation = engine_.store().value(), .ttl = ttl};
}

RequestId Requests::id(Sequence sequence) const { return {{engine_.self(), engine_.store(), engine_.boot()}, sequence}; }

void Requests::run_at(LaggingTime at, absl::AnyInvocable<void(Now)> run) {
  timers_.emplace(std::pair(at, ++last_timer_), std::move(run));
}

void Requests::run_due(Now now) {
  now_ = now.lagging;
  while (!timers_.empty() && timers_.begin()->first.first <= now.lagging) {
    auto due = timers_.extract(timers_.begin());
    due.mapped()(now);
  }
}

void Requests::turned(const EngineEffects& effects) {
  posted_ = false;
  halted_ = halted_ || effects.halted.has_value();
}

// The callback may clear everything (by stopping the client), forget this very ticket, and submit.
PoolRef<PendingAcquire> Requests::complete(const Completion& completion, Now now) {
  const Waiting* const found = tickets_.find(completion.ticket);
  if (found == nullptr) return {};
  const PoolRef<Request> request = found->first();
  PoolRef<PendingAcquire> acquire = found->second();
  const bool once_more = completion.status.ok() && completion.stage == ApplyOutput::Stage::Queued;
  if (!once_more) tickets_.remove(completion.ticket);
  if (acquire) return acquire;
  if (const auto submitted = std::exchange(request->submitted, std::nullopt)) {
    if (completion.status.ok()) {
      statistics_.latency.add(now.lagging - *submitted);
    } else {
      ++statistics_.refused;
    }
  }
  request->on_completion(completion, now);
  return {};
}

void Requests::clear() {
  tickets_.clear();
  timers_.clear();
}

}  // namespace coordkit::client
