#include "engine/proposals.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {
namespace {

constexpr LaggingTime kNow = LaggingTime::min();  // as soon as a leader is known
constexpr uint8_t kHandingsDoubled = 5;           // then it waits for 32 election timeouts each time

std::string_view why_refused(Reason refusal) {
  switch (refusal) {
    case Reason::Fenced:
      return "the guard was not met when the command's turn came, so it was not executed; the lock has passed on: give up this "
             "grant and whatever was done under it alone";
    case Reason::ResultTooLarge: return "the command was executed, but its result is above kResultBytesMax and was dropped";
    default: return "the cluster refused the request before running it";
  }
}

// Whether a machine's decision came with this answer; other refusals are of a repeat.
bool decides(const Answer& answer) {
  return answer.stage == ApplyOutput::Stage::Final && (!answer.refused || answer.refused == Reason::ResultTooLarge);
}

}  // namespace

void Proposals::submit(Submit submit, std::vector<Completion>& completions) {
  const Ticket ticket = submit.ticket;
  if (submit.command.size() > options_.request_bytes_max) {
    completions.push_back(
        {.ticket = ticket,
         .status = make_error(Reason::RequestTooLarge, "the command has " + std::to_string(submit.command.size()) +
                                                           " bytes; at most " + std::to_string(options_.request_bytes_max) +
                                                           " are taken")});
    return;
  }
  if (submit.guard && submit.guard->bytes.size() > kGuardBytesMax) {
    completions.push_back({.ticket = ticket,
                           .status = make_error(Reason::RequestTooLarge,
                                                "the guard has " + std::to_string(submit.guard->bytes.size()) +
                                                    " bytes; at most " + std::to_string(kGuardBytesMax) + " are taken")});
    return;
  }
  const uint64_t arrival = ++arrivals_;
  deadlines_.insert({submit.deadline, ticket});
  bytes_ += bytes_of(submit);
  line(submit.urgency).emplace(arrival, ticket);
  calls_.emplace(ticket, Call{.submit = std::move(submit), .arrival = arrival});
}

Sequence Proposals::lowest_unanswered() const { return unanswered_.empty() ? next_ : unanswered_.begin()->first; }

// Gives sequences to calls that fit the window; releases, cancels and closes have a quarter of it to themselves.
void Proposals::admit_waiting() {
  for (Line* from : {&waiting_reserved_, &waiting_}) {
    while (!from->empty() && room(*from)) {
      const Ticket ticket = from->begin()->second;
      from->erase(from->begin());
      Call& call = calls_.find(ticket)->second;
      call.sequence = next_;
      unanswered_.try_emplace(next_, ticket);
      next_ = next_.next();
      schedule(call, kNow);
    }
  }
}

bool Proposals::room(const Line& from) const {
  if (&from == &waiting_reserved_) return window_used() < options_.window + options_.window / 4 + 1;
  return window_used() < options_.window && kept_bytes_ <= kAnswerBytesMax;
}

// Answers are kept until the origin says that it awaits nothing so old any more.
void Proposals::note_kept(const Answer& answer) {
  if (!answer.refused && kept_.try_emplace(answer.request.sequence, answer.bytes.size()).second)
    kept_bytes_ += answer.bytes.size();
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
    calls_.find(unanswered_.at(sequence))->second.handings = 0;
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

void Proposals::refused(Sequence sequence, Handing handing, LaggingTime when) {
  const auto ticket = unanswered_.find(sequence);
  if (ticket == unanswered_.end()) return;
  if (handing == Handing::First) calls_.find(ticket->second)->second.handed = false;
  postpone(sequence, when);
}

// Until it is handed to the same leader again: longer each time, because a leader that is slow is not helped by copies.
Duration Proposals::patience(Call& call) const {
  return options_.raft.election_timeout * (int64_t{1} << std::min<uint8_t>(call.handings++, kHandingsDoubled));
}

void Proposals::collect(LaggingTime now, bool registered, std::vector<Handover>& out) {
  if (!registered) {
    if (now < register_at_) return;
    register_at_ = now + options_.raft.election_timeout;
    out.push_back({.payload = SharedBytes(encode(RegisterOrigin{origin_, lowest_unanswered()}))});
    return;
  }
  admit_waiting();
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const Sequence sequence = retries_.begin()->second;
    Call& call = calls_.find(unanswered_.at(sequence))->second;
    unschedule(call);
    schedule(call, now + patience(call));
    const Handing handing = std::exchange(call.handed, true) ? Handing::Repeated : Handing::First;
    Request request{{origin_, sequence}, lowest_unanswered(), call.submit.machine, call.submit.command.view()};
    if (const auto& guard = call.submit.guard) request.guard = {guard->machine, guard->bytes};
    encode(request, scratch_);
    out.push_back({sequence, handing, SharedBytes(scratch_)});
  }
}

void Proposals::release_kept() {
  while (!kept_.empty() && kept_.begin()->first < lowest_unanswered()) {
    kept_bytes_ -= kept_.begin()->second;
    kept_.erase(kept_.begin());
  }
}

void Proposals::answered(Answer answer, std::vector<Completion>& completions) {
  if (answer.request.origin != origin_) return;
  const Sequence sequence = answer.request.sequence;
  if (sequence >= lowest_unanswered()) note_kept(answer);
  const bool queued = answer.stage == ApplyOutput::Stage::Queued;
  Completion completion{
      .stage = answer.stage, .bytes = std::move(answer.bytes), .index = answer.index, .request = answer.request};
  if (answer.refused) completion.status = make_error(*answer.refused, why_refused(*answer.refused));
  if (const auto waiting = unanswered_.find(sequence); waiting != unanswered_.end()) {
    const auto call = calls_.find(waiting->second);
    if (!queued) return complete(call, std::move(completion), completions);
    unschedule(call->second);
    unanswered_.erase(waiting);
    release_kept();
    call->second.queued = true;
    queued_.emplace(sequence, call->first);
    completion.ticket = call->first;
    completions.push_back(std::move(completion));
    return;
  }
  const auto accepted = queued_.find(sequence);
  if (accepted == queued_.end() || !decides(answer)) return;  // a repeat; the decision itself is still to come
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
  bytes_ -= bytes_of(call.submit);
  if (call.queued) {
    queued_.erase(call.sequence);
  } else if (call.sequence) {
    unschedule(call);
    unanswered_.erase(call.sequence);
    release_kept();
  } else {
    line(call.submit.urgency).erase(call.arrival);
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
    const bool handed = call.handed;
    const Outcome outcome = handed ? Outcome::Unknown : Outcome::None;
    const absl::Status status =
        handed ? make_error(Reason::CallTimeout, outcome, "no answer before the deadline of the call; it may still take effect")
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
}

LaggingTime Proposals::next_deadline(Road road) const {
  LaggingTime next = deadlines_.empty() ? LaggingTime::max() : deadlines_.begin()->first;
  if (road == Road::NoLeader) return next;
  if (road == Road::Unregistered) return std::min(next, register_at_);
  for (const Line* from : {&waiting_reserved_, &waiting_}) {
    if (!from->empty() && room(*from)) return kNow;
  }
  if (!retries_.empty()) next = std::min(next, retries_.begin()->first);
  return next;
}

}  // namespace coordkit::engine
