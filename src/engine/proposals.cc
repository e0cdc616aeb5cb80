#include "engine/proposals.h"

#include <utility>

namespace coordkit::engine {
namespace {

constexpr LaggingTime kNow = LaggingTime::min();  // as soon as a leader is known

}  // namespace

void Proposals::submit(Submit submit, std::vector<Completion>& completions) {
  const Ticket ticket = submit.ticket;
  if (submit.urgency == Urgency::Normal && calls_.size() >= options_.requests_max) {
    completions.push_back({.ticket = ticket,
                           .status = make_error(Reason::TooManyRequests,
                                                "this replica has " + std::to_string(calls_.size()) +
                                                    " calls under way; wait for some to end before starting more")});
    return;
  }
  deadlines_.insert({submit.deadline, ticket});
  (submit.urgency == Urgency::Reserved ? waiting_reserved_ : waiting_).push_back(ticket);
  calls_.emplace(ticket, Call{.submit = std::move(submit)});
}

Sequence Proposals::lowest_unanswered() const { return unanswered_.empty() ? next_ : unanswered_.begin()->first; }

// Gives sequences to calls that fit the window; releases, cancels and closes have a quarter of it to themselves.
void Proposals::admit_waiting() {
  const auto admit = [&](std::deque<Ticket>& from, uint64_t window) {
    while (!from.empty() && window_used() < window) {
      const auto it = calls_.find(from.front());
      from.pop_front();
      if (it == calls_.end()) continue;  // timed out while it waited
      it->second.sequence = next_;
      unanswered_.emplace(next_, it->first);
      next_ = next_.next();
      schedule(it->second, kNow);
    }
  };
  admit(waiting_reserved_, window_reserved());
  admit(waiting_, options_.window);
}

void Proposals::schedule(Call& call, LaggingTime when) {
  call.retry_at = when;
  retries_.insert({when, call.sequence});
}

void Proposals::unschedule(const Call& call) { retries_.erase({call.retry_at, call.sequence}); }

void Proposals::leadership_changed() {
  register_at_ = kNow;
  std::vector<Sequence> later;
  for (const auto& [when, sequence] : retries_) {
    if (when != kNow) later.push_back(sequence);
  }
  for (const Sequence sequence : later) postpone(sequence, kNow);
}

void Proposals::postpone(Sequence sequence, LaggingTime when) {
  const auto ticket = unanswered_.find(sequence);
  if (ticket == unanswered_.end()) return;
  Call& call = calls_.find(ticket->second)->second;
  unschedule(call);
  schedule(call, when);
}

void Proposals::collect(LaggingTime now, bool registered, std::vector<Handover>& out) {
  const LaggingTime again = now + options_.raft.election_timeout;
  if (!registered) {
    if (now < register_at_) return;
    register_at_ = again;
    out.push_back({Sequence(), SharedBytes(encode(RegisterOrigin{origin_}))});
    return;
  }
  admit_waiting();
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const Sequence sequence = retries_.begin()->second;
    Call& call = calls_.find(unanswered_.at(sequence))->second;
    unschedule(call);
    schedule(call, again);
    call.handed = true;
    out.push_back({sequence, SharedBytes(encode(Request{{origin_, sequence}, lowest_unanswered(), call.submit.machine,
                                                        call.submit.command.view()}))});
  }
}

void Proposals::answered(Answer answer, std::vector<Completion>& completions) {
  if (answer.request.origin != origin_) return;
  const Sequence sequence = answer.request.sequence;
  const bool queued = answer.stage == ApplyOutput::Stage::Queued;
  Completion completion{.stage = answer.stage, .bytes = std::move(answer.bytes), .index = answer.index, .request = answer.request};
  if (const auto waiting = unanswered_.find(sequence); waiting != unanswered_.end()) {
    const auto call = calls_.find(waiting->second);
    if (answer.refused) {
      completion.status = make_error(*answer.refused, "the cluster refused the request before running it");
    }
    if (!queued) return complete(call, std::move(completion), completions);
    unschedule(call->second);
    unanswered_.erase(waiting);
    call->second.queued = true;
    queued_.emplace(sequence, call->first);
    completion.ticket = call->first;
    completions.push_back(std::move(completion));
    return;
  }
  const auto accepted = queued_.find(sequence);
  if (accepted == queued_.end() || queued || answer.refused) return;  // a repeat; the decision itself is still to come
  complete(calls_.find(accepted->second), std::move(completion), completions);
}

void Proposals::complete(Calls::iterator call, Completion completion, std::vector<Completion>& completions) {
  completion.ticket = call->first;
  completions.push_back(std::move(completion));
  drop(call);
}

void Proposals::drop(Calls::iterator it) {
  const Call& call = it->second;
  deadlines_.erase({call.submit.deadline, it->first});
  if (call.queued) {
    queued_.erase(call.sequence);
  } else if (call.sequence) {
    unschedule(call);
    unanswered_.erase(call.sequence);
  }
  calls_.erase(it);
}

void Proposals::forget(Ticket ticket) {
  if (const auto it = calls_.find(ticket); it != calls_.end()) drop(it);
}

void Proposals::expire(LaggingTime now, std::vector<Completion>& completions) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const auto it = calls_.find(deadlines_.begin()->second);
    const Call& call = it->second;
    const Outcome outcome = call.handed ? Outcome::Unknown : Outcome::None;
    const absl::Status status =
        call.handed ? make_error(Reason::CallTimeout, outcome, "no answer before the deadline of the call; it may still take effect")
                    : make_error(Reason::NoLeader, outcome, "no leader was found before the deadline of the call; nothing was done");
    const RequestId request = call.sequence ? RequestId{origin_, call.sequence} : RequestId{};
    complete(it, {.status = status, .request = request}, completions);
  }
}

void Proposals::fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions) {
  while (!deadlines_.empty()) {
    const auto it = calls_.find(deadlines_.begin()->second);
    const Outcome outcome = it->second.handed ? Outcome::Unknown : Outcome::None;
    complete(it, {.status = make_error(reason, outcome, why)}, completions);
  }
  waiting_.clear();
  waiting_reserved_.clear();
}

LaggingTime Proposals::next_deadline(Road road) const {
  LaggingTime next = deadlines_.empty() ? LaggingTime::max() : deadlines_.begin()->first;
  if (road == Road::NoLeader) return next;
  if (road == Road::Unregistered) return std::min(next, register_at_);
  const bool room = (!waiting_.empty() && window_used() < options_.window) ||
                    (!waiting_reserved_.empty() && window_used() < window_reserved());
  if (room) return kNow;
  if (!retries_.empty()) next = std::min(next, retries_.begin()->first);
  return next;
}

}  // namespace coordkit::engine
