#include "machine/machine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordkit/error.h"
#include "machine/checkpoint_rows.h"
#include "machine/guard.h"
#include "machine/questions.h"

namespace coordkit::machine {
namespace {

ResultCode code_of(lock::Decision::Kind kind) {
  switch (kind) {
    case lock::Decision::Kind::Granted: return ResultCode::Granted;
    case lock::Decision::Kind::WaitTimeout: return ResultCode::WaitTimeout;
    case lock::Decision::Kind::Cancelled: return ResultCode::Cancelled;
    case lock::Decision::Kind::Lost: return ResultCode::Lost;
  }
  return ResultCode::Lost;
}

TimerOp arm(TimerId id, Generation generation, Duration duration) { return {TimerOp::Kind::Arm, id, generation, duration, {}}; }

TimerOp disarm(TimerId id) { return {TimerOp::Kind::Disarm, id, {}, {}, {}}; }

// The command of a remote with a name, in words that are made before it is carried out.
class Audit {
 public:
  Audit(const Command& command, const std::optional<Needs>& needs) : command_(command) {
    if (needs && !command.remote->empty()) words_ = words_of(*needs);
  }
  void note(ResultCode result, ApplyOutput& output) const {
    if (words_.empty()) return;
    output.acts.push_back({command_.index, std::string(*command_.remote), words_ + ": " + std::string(reason_of(result))});
  }

 private:
  const Command& command_;
  std::string words_;
};

}  // namespace

Machine::Machine(std::string row_prefix) : prefix_(std::move(row_prefix)) {
  COORDKIT_CHECK(prefix_.size() <= rows::kPrefixBytesMax);
}

void Machine::bootstrap(ClusterId cluster, uint64_t token_base) {
  COORDKIT_CHECK_MSG(!state_.cluster && state_.counter.last() == 0, "founded twice");
  COORDKIT_CHECK_MSG(token_base < lock::TokenCounter::kMax, "INV_L04");
  state_.cluster = cluster;
  state_.counter = lock::TokenCounter(token_base);
}

void Machine::apply(std::span<const Command> commands, ApplyOutput& output) {
  for (const Command& command : commands) {
    apply_one(command, output);
    state_.keys.sweep(kSweptPerEntry);
  }
}

// Executed by the part that has such requests.
template <typename Body>
Answer Machine::execute(Body& body, ApplyStep& step) {
  const auto by = [&](auto& part) -> Answer { return part.execute(body, step); };
  if constexpr (requires { sessions_.execute(body, step); }) return by(sessions_);
  if constexpr (requires { locks_.execute(body, step); }) return by(locks_);
  if constexpr (requires { keys_.execute(body, step); }) return by(keys_);
  if constexpr (requires { leases_.execute(body, step); }) return by(leases_);
  if constexpr (requires { coordination_.execute(body, step); }) return by(coordination_);
  if constexpr (requires { permissions_.execute(body, step); }) return by(permissions_);
  return Result{.code = ResultCode::Unsupported};
}

// The order of docs/semantics.md S-42 from its fourth rule on; the first three are the router's.
void Machine::apply_one(const Command& command, ApplyOutput& output) {
  decisions_.clear();
  ApplyStep step{command.index, command.request, output, decisions_, state_, scratch_};
  const bool cancelled = state_.cancels.arrived(command.request);
  const bool formed = decode_request(command.payload, request_).ok();
  const ResultCode refusal = formed ? sessions_.admit(request_, command.request) : ResultCode::InvalidArgument;
  const std::optional<Needs> needs = command.remote ? std::optional(needs_of(request_)) : std::nullopt;
  const Audit audit(command, needs);
  if (refusal != ResultCode::Ok) {
    audit.note(refusal, output);
    return step.answer({.code = refusal}, ApplyOutput::Stage::Final);
  }
  locks_.perform_prior_releases(request_, step);
  decide_waits(step);
  Answer result = cancelled ? Result{.code = ResultCode::Cancelled} : outcome_of(command, needs, step);
  audit.note(result ? result->code : ResultCode::Queued, output);
  if (result) step.answer(*std::move(result), ApplyOutput::Stage::Final);
  decide_waits(step);
  coordination_.announce_leaders(step);
}

Answer Machine::outcome_of(const Command& command, const std::optional<Needs>& needs, ApplyStep& step) {
  if (needs) {
    if (Answer refusal = permissions_.refusal(command, *needs)) return refusal;
  }
  return std::visit([&](auto& body) { return execute(body, step); }, request_.body);
}

// S-39: first all sessions of the entry die, then everything that they held is freed, then the next owners are chosen. So no
// hold is granted to a session, or to a wait, that ends in the same entry. Keys are deleted in the ascending order of the ids
// to which they are attached.
void Machine::fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) {
  decisions_.clear();
  ApplyStep step{index, {}, output, decisions_, state_, scratch_};
  std::vector<std::pair<LeaseId, SessionId>> dead;
  std::vector<FiredTimer> waits;
  std::vector<uint64_t> delays;
  for (const FiredTimer& timer : timers) {
    if (timer.id.value() & kWaitTimerBit) {
      waits.push_back(timer);
      continue;
    }
    const SessionId id(timer.id.value());
    std::optional<lease::Session> session = state_.sessions.find(id);
    if (!session) session = state_.leases.find(id);
    if (!session && timer.generation == Generation(0)) delays.push_back(id.value());
    if (session && session->generation == timer.generation) {
      dead.emplace_back(session->name ? session->name : LeaseId(id.value()), id);
    }
  }
  std::sort(dead.begin(), dead.end());
  dead.erase(std::unique(dead.begin(), dead.end()), dead.end());
  for (const auto& [name, id] : dead) {
    if (state_.leases.contains(id)) {
      leases_.end(id, SessionEnded::Reason::Expired, step);
      continue;
    }
    const bool killed = state_.sessions.find(id)->ending;
    sessions_.end(id, killed ? SessionEnded::Reason::Killed : SessionEnded::Reason::Expired, step);
  }
  for (const FiredTimer& timer : waits) {
    const bool of_lock =
        timer.generation == Generation(0) && state_.locks.time_out(Index(timer.id.value() & ~kWaitTimerBit), step.decisions);
    if (!of_lock) coordination_.time_out(timer, step);
  }
  for (const uint64_t delay : delays) state_.locks.end_delay(delay, step.decisions);
  decide_waits(step);
  coordination_.announce_leaders(step);
  state_.keys.sweep(kSweptPerEntry);
}

// Grants all waits that became grantable, and announces every wait that ended.
void Machine::decide_waits(ApplyStep& step) {
  if (state_.locks.nothing_touched() && step.decisions.empty() && coordination_.nothing_touched()) return;
  decide_touched(step);
}

void Machine::decide_touched(ApplyStep& step) {
  state_.locks.decide_waits(step.index, state_.counter, step.decisions);
  for (const lock::DelayChange& change : step.decisions.delays) {
    const bool begun = change.kind == lock::DelayChange::Kind::Begun;
    step.output.timer_ops.push_back(begun ? arm(delay_timer(change.id), Generation(0), change.duration)
                                          : disarm(delay_timer(change.id)));
  }
  for (const lock::Decision& decision : step.decisions.waits) announce(decision, step);
  for (const lock::Asked& asked : step.decisions.asked) {
    step.output.events.push_back({step.index, encode(Event(DelegationAsked{asked.session, asked.name, asked.token}))});
  }
  for (const std::string& name : step.decisions.led) {
    coordination_.leader_changed(name);
  }
  step.decisions.clear();
  coordination_.decide_waits(step);
}

void Machine::announce(const lock::Decision& decision, ApplyStep& step) {
  if (decision.timed) step.output.timer_ops.push_back(disarm(wait_timer(decision.queued)));
  const bool granted = decision.kind == lock::Decision::Kind::Granted;
  if (granted) COORDKIT_CHECK_MSG(state_.sessions.contains(decision.session), "INV_L07");
  const Result result{.code = code_of(decision.kind),
                      .revision = state_.keys.revision(),
                      .token = decision.token,
                      .since = granted ? step.index : Index()};
  encode(result, scratch_);
  step.output.answer(step.index, decision.request, scratch_);
}

void Machine::timers(std::vector<TimerOp>& out) const {
  const auto add = [&](SessionId id, const lease::Session& session) {
    out.push_back(timer_of(id, session));
    return true;
  };
  state_.sessions.each_after({}, add);
  state_.leases.each_after({}, add);
  state_.locks.delays().each(
      [&](const lock::DelayView& delay) { out.push_back(arm(delay_timer(delay.id), Generation(0), delay.duration)); });
  state_.locks.view().timed_waits(
      [&](const lock::ClaimView& wait) { out.push_back(arm(wait_timer(wait.since), Generation(0), wait.timeout)); });
  coordination_.timers(out);
  std::ranges::sort(out, {}, &TimerOp::id);
}

// From a process without this state; in this one reads() answers without bytes.
absl::StatusOr<std::string> Machine::query(std::string_view question) const {
  const absl::StatusOr<Question> decoded = decode_question(question);
  if (!decoded.ok()) return decoded.status();
  return encoded_answer(*reads(), *decoded);
}

bool Machine::holds(std::string_view bytes) {
  const absl::StatusOr<Guard> guard = decode_guard(bytes);
  if (!guard.ok()) return false;
  if (const auto* held = std::get_if<LockHeld>(&*guard)) return keys_.lock_shown(held->name, held->token, held->exclusive);
  const auto* free = std::get_if<LockFree>(&*guard);
  return free != nullptr && state_.locks.view().free(free->name);
}

bool Machine::permits(std::string_view remote, std::optional<std::string_view> bytes) const {
  const RemoteCaller caller{remote, {}};
  if (!bytes) {
    Needs needs{.verb = "use a machine of the host"};
    needs.everything(Right::Write);
    return !denial(state_, caller, needs);
  }
  const absl::StatusOr<Guard> guard = decode_guard(*bytes);
  return !guard.ok() || !denial(state_, caller, needs_of(*guard));
}

// Only commands that wait for a grant are ever queued.
void Machine::queued_results(std::span<const RequestId> requests,
                             absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const {
  QueuedAnswers answers(state_, answer);
  locks_.queued_results(requests, answers);
  coordination_.queued_results(requests, answers);
}

}  // namespace coordkit::machine
