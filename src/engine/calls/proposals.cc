#include "engine/calls/proposals.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace coordkit::engine {
namespace {

constexpr LaggingTime kNow = LaggingTime::min();  // as soon as a leader is known
constexpr uint8_t kHandingsDoubled = 5;           // then it waits for 32 election timeouts each time

std::string_view why_refused(Reason refusal) {
  switch (refusal) {
    case Reason::Fenced:
      return "the fence was not met when the write's turn came, so nothing was written: its lock is not held with its token "
             "any "
             "more; stop the work that this grant protects";
    case Reason::PermissionDenied:
      return "this remote has no right to write under a fence of that lock, or to use machines of the host; an administrator "
             "can give it, with coordctl permit";
    case Reason::ResultTooLarge: return "the command was executed, but its result is above kResultBytesMax and was dropped";
    default: return "the cluster refused the request before running it";
  }
}

// The bytes of the request, encoded, at most.
size_t encoded_max(const Submit& submit) { return engine::bytes_of(submit) + kRequestOverhead; }

// Whether this answer carries a machine's decision; other refusals belong to a repeat.
bool decides(const Answer& answer) {
  return answer.stage == ApplyOutput::Stage::Final && (!answer.refused || answer.refused == Reason::ResultTooLarge);
}

}  // namespace

Proposals::Proposals(const EngineOptions& options, Origin origin, size_t command_bytes_max, std::string name)
    : options_(options), origin_(origin), window_(options, command_bytes_max), registration_{.name = std::move(name)} {}

void Proposals::submit(Submit&& submit, std::vector<Completion>& completions) {
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
  deadlines_.add(submit.deadline, ticket);
  bytes_ += bytes_of(submit);
  Line& last = line(submit.urgency);
  last.tickets.push_back(ticket);
  ++last.waiting;
  calls_.emplace(ticket, Call{.submit = std::move(submit)});
}

// ---- the window

Proposals::Call* Proposals::unanswered(Sequence sequence) {
  const Ticket call = window_.unanswered(sequence);
  return call ? &calls_.find(call)->second : nullptr;
}

// Assigns sequences to calls that fit the window. A call whose deadline has passed is left to expire(), and with it every call
// behind it, in either line: that one may have to come after it. For the same reason no other call passes a release that does
// not fit.
void Proposals::admit_waiting(LaggingTime now) {
  for (Line* from : {&waiting_reserved_, &waiting_}) {
    while (from->waiting > 0) {
      const auto found = calls_.find(from->tickets.front());
      if (found == calls_.end()) {
        from->tickets.pop_front();
        continue;
      }
      const Submit& submit = found->second.submit;
      if (!window_.room(from->urgency, encoded_max(submit))) return;
      if (submit.deadline <= now) return;
      from->tickets.pop_front();
      --from->waiting;
      found->second.sequence = window_.open(found->first, submit.answer_bytes_max, encoded_max(submit));
      schedule(found->second, kNow);
    }
  }
}

// Whether the next call, if any, fits.
bool Proposals::next_fits() const {
  const Line& from = waiting_reserved_.waiting > 0 ? waiting_reserved_ : waiting_;
  if (from.waiting == 0) return false;
  const auto first = calls_.find(from.tickets.front());
  return window_.room(from.urgency, first == calls_.end() ? 0 : encoded_max(first->second.submit));
}

// A call of this line ended before it got a sequence.
void Proposals::leave(Line& from) {
  constexpr size_t kEndedKept = 64;
  --from.waiting;
  if (from.tickets.size() <= 2 * from.waiting + kEndedKept) return;
  for (size_t left = from.tickets.size(); left > 0; --left) {
    const Ticket ticket = from.tickets.take_front();
    if (calls_.contains(ticket)) from.tickets.push_back(ticket);
  }
}

// ---- handing over

bool Proposals::timed(LaggingTime when) { return when != kNow && when != LaggingTime::max(); }

bool Proposals::retries_at(LaggingTime when, Sequence sequence) {
  const Call* call = unanswered(sequence);
  return call && call->retry_at == when;
}

void Proposals::schedule(Call& call, LaggingTime when) {
  const LaggingTime before = std::exchange(call.retry_at, when);
  if (when == kNow) at_once_.push_back(call.sequence);
  if (timed(when)) retries_.add(when, call.sequence);
  if (timed(before)) retry_ended();
}

void Proposals::retry_ended() {
  retries_.ended([this](LaggingTime when, Sequence sequence) { return retries_at(when, sequence); });
}

void Proposals::leadership_changed() {
  registration_.at = kNow;
  at_once_.clear();
  window_.for_each_unanswered([this](Sequence, Ticket ticket) {
    Call& call = calls_.find(ticket)->second;
    call.handings = 0;
    schedule(call, kNow);
  });
}

void Proposals::postpone(Sequence sequence, LaggingTime when) {
  if (Call* call = unanswered(sequence)) schedule(*call, when);
}

void Proposals::refused(Sequence sequence, Handing handing, LaggingTime when) {
  Call* call = unanswered(sequence);
  if (!call) return;
  if (handing == Handing::First) call->handed = false;
  schedule(*call, when);
}

// The delay until it is handed to the same leader again: longer each time, because copies do not help a slow leader.
Duration Proposals::retry_delay(Call& call) const {
  return options_.raft.election_timeout * (int64_t{1} << std::min<uint8_t>(call.handings++, kHandingsDoubled));
}

void Proposals::collect(LaggingTime now, bool registered, std::vector<Dispatch>& out, Into into) {
  if (!registered) {
    if (now < registration_.at) return;
    registration_.at = now + options_.raft.election_timeout;
    const RegisterOrigin registration{origin_, window_.lowest_unanswered(), registration_.as_of, registration_.name};
    out.push_back({.payload = SharedBytes(encode(registration))});
    return;
  }
  admit_waiting(now);
  const auto hand = [&](Call& call) {
    if (call.submit.deadline <= now) return schedule(call, LaggingTime::max());  // its caller no longer waits
    out.push_back(hand_over(call, into == Into::OwnLog ? LaggingTime::max() : now + retry_delay(call)));
  };
  while (!at_once_.empty()) {
    Call* call = unanswered(at_once_.take_front());
    if (call && call->retry_at == kNow) hand(*call);
  }
  const auto valid = [this](LaggingTime when, Sequence sequence) { return retries_at(when, sequence); };
  while (const auto sequence = retries_.take_due(now, valid)) hand(*unanswered(*sequence));
}

Proposals::Dispatch Proposals::hand_over(Call& call, LaggingTime retry_at) {
  schedule(call, retry_at);
  const Handing handing = std::exchange(call.handed, true) ? Handing::Repeated : Handing::First;
  Request request{{origin_, call.sequence}, window_.lowest_unanswered(), call.submit.machine, call.submit.command.view()};
  if (const auto& guard = call.submit.guard) request.guard = {guard->machine, guard->bytes};
  if (call.submit.after) request.after = comes_after(call);
  request.name = registration_.name;
  encode(request, scratch_);
  return {call.sequence, handing, slab_.keep(scratch_)};
}

// Zero: that one is over.
Sequence Proposals::comes_after(const Call& call) const {
  const auto before = calls_.find(call.submit.after);
  if (before == calls_.end()) return {};
  COORDKIT_CHECK_MSG(before->second.sequence < call.sequence, "a call gets its sequence after the call that it follows");
  return before->second.sequence;
}

void Proposals::overtook(const RequestId& request) {
  if (request.origin == origin_) postpone(request.sequence, kNow);
}

// ---- the ends of calls

void Proposals::answered(Answer&& answer, std::vector<Completion>& completions) {
  if (answer.request.origin != origin_) return;
  const Sequence sequence = answer.request.sequence;
  window_.keep(sequence, answer.refused ? 0 : answer.bytes.size());
  const bool queued = answer.stage == ApplyOutput::Stage::Queued;
  const bool decided = decides(answer);
  Completion completion{
      .stage = answer.stage, .bytes = std::move(answer.bytes), .index = answer.index, .request = answer.request};
  if (answer.refused) completion.status = make_error(*answer.refused, why_refused(*answer.refused));
  if (const Ticket ticket = window_.unanswered(sequence)) {
    if (queued) return accepted(calls_.find(ticket), std::move(completion), completions);
    return complete(ticket, std::move(completion), completions);
  }
  const QueuedCalls::Call* waiting = queued_.find(sequence);
  if (waiting == nullptr || !decided) return;  // a repeat; the decision is still to come
  complete(waiting->ticket(), std::move(completion), completions);
}

// Accepted by the machine, which will answer later.
void Proposals::accepted(Calls::iterator it, Completion&& completion, std::vector<Completion>& completions) {
  Call& call = it->second;
  schedule(call, LaggingTime::max());
  window_.close(call.sequence);
  queued_.add({.ticket = it->first,
               .sequence = call.sequence,
               .machine = call.submit.machine,
               .has_deadline = call.submit.deadline != LaggingTime::max()});
  bytes_ -= bytes_of(call.submit);
  completion.ticket = it->first;
  calls_.erase(it);
  completions.push_back(std::move(completion));
}

void Proposals::complete(Ticket ticket, Completion&& completion, std::vector<Completion>& completions) {
  completion.ticket = ticket;
  completions.push_back(std::move(completion));
  drop(ticket);
}

void Proposals::drop(Ticket ticket) {
  const auto it = calls_.find(ticket);
  if (it == calls_.end()) {
    const QueuedCalls::Call& queued = *queued_.find(ticket);
    const bool had_deadline = queued.has_deadline();
    queued_.erase(queued);
    if (had_deadline) deadline_ended();
    return;
  }
  const Call& call = it->second;
  const bool had_deadline = call.submit.deadline != LaggingTime::max();
  const bool had_retry = timed(call.retry_at);
  const Sequence sequence = call.sequence;
  Line& waits_in = line(call.submit.urgency);
  bytes_ -= bytes_of(call.submit);
  calls_.erase(it);
  if (sequence) {
    window_.close(sequence);
  } else {
    leave(waits_in);
  }
  if (had_retry) retry_ended();
  if (had_deadline) deadline_ended();
}

void Proposals::deadline_ended() {
  deadlines_.ended([this](LaggingTime, Ticket ticket) { return contains(ticket); });
}

void Proposals::forget(Ticket ticket) {
  if (contains(ticket)) drop(ticket);
}

// Where there is a leader, the call has waited behind others: for room in the window, or because the leader refuses more.
absl::Status Proposals::never_handed_over(Route route) const {
  if (route == Route::NoLeader) {
    return make_error(Reason::NoLeader, Outcome::NoEffect,
                      "no leader was found before the deadline of the call; nothing was done");
  }
  return make_error(Reason::CallTimeout, Outcome::NoEffect,
                    "the leader did not take this call before its deadline, while " + std::to_string(size()) +
                        " calls of this replica were under way; nothing was done: make fewer calls at a time, or give them "
                        "more time");
}

bool Proposals::expire(LaggingTime now, Route route, std::vector<Completion>& completions) {
  for (size_t left = kExpiredOfATurn; left > 0; --left) {
    const auto ticket = deadlines_.take_due(now, [this](LaggingTime, Ticket one) { return contains(one); });
    if (!ticket) return false;
    const Progress progress = progress_of(*ticket);
    const bool handed = progress.handed;
    const Outcome outcome = handed ? Outcome::Unknown : Outcome::NoEffect;
    const absl::Status status =
        handed ? make_error(Reason::CallTimeout, outcome, "no answer before the deadline of the call; it may still take effect")
               : never_handed_over(route);
    const RequestId request = progress.sequence ? RequestId{origin_, progress.sequence} : RequestId{};
    complete(*ticket, {.status = status, .request = request}, completions);
  }
  return deadlines_.next() <= now;
}

void Proposals::fail_all(Reason reason, std::string_view why, std::vector<Completion>& completions) {
  for (const Ticket ticket : tickets()) {
    const Outcome outcome = progress_of(ticket).handed ? Outcome::Unknown : Outcome::NoEffect;
    complete(ticket, {.status = make_error(reason, outcome, why)}, completions);
  }
}

Proposals::Progress Proposals::progress_of(Ticket ticket) const {
  const auto it = calls_.find(ticket);
  if (it == calls_.end()) return {.handed = true, .sequence = queued_.find(ticket)->sequence()};
  return {.handed = it->second.handed, .sequence = it->second.sequence};
}

std::vector<Ticket> Proposals::tickets() const {
  std::vector<Ticket> all;
  for (const auto& [ticket, call] : calls_) all.push_back(ticket);
  queued_.each([&](const QueuedCalls::Call& call) { all.push_back(call.ticket()); });
  std::ranges::sort(all);
  return all;
}

LaggingTime Proposals::next_deadline(Route route) const {
  const LaggingTime next = deadlines_.next();
  if (route == Route::NoLeader) return next;
  if (route == Route::Unregistered) return std::min(next, registration_.at);
  return at_once_.empty() && !next_fits() ? std::min(next, retries_.next()) : kNow;
}

}  // namespace coordkit::engine
