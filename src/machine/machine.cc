#include "machine/machine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "machine/rows.h"

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

TimerOp disarm(TimerId id, Generation generation = {}) { return {TimerOp::Kind::Disarm, id, generation, {}, {}}; }

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

// The order of docs/semantics.md S-42 from its fourth rule on; the first three are the router's.
void Machine::apply_one(const Command& command, ApplyOutput& output) {
  decisions_.clear();
  Step step{command.index, command.request, output, decisions_};
  const bool cancelled = state_.cancels.arrived(command.request);
  absl::StatusOr<Request> request = decode_request(command.payload);
  if (const ResultCode refusal = admit(request, command.request); refusal != ResultCode::Ok) {
    return answer({.code = refusal}, ApplyOutput::Stage::Final, step);
  }
  perform_prior_releases(*request, step);
  Answer result = cancelled ? Result{.code = ResultCode::Cancelled}
                            : std::visit([&](auto& body) { return execute(body, step); }, request->body);
  if (result) answer(*result, ApplyOutput::Stage::Final, step);
  settle(step);
  announce_leaders(step);
}

Machine::Answer Machine::execute(std::monostate, Step&) { return Result{.code = ResultCode::Unsupported}; }

Machine::Answer Machine::execute(OpenSession& open, Step& step) {
  SessionId id(state_.counter.next());
  while (state_.leases.named(LeaseId(id.value()))) id = SessionId(state_.counter.next());  // keys may be attached to either
  const Duration ttl = lease::granted_ttl(open.ttl);
  const TimerGroup group{open.node, open.boot, open.incarnation, ttl};
  const lease::Session session{group, Generation(0), std::move(open.metadata), open.secret};
  step.output.timer_ops.push_back(timer_of(id, session));
  state_.sessions.open(id, session);
  return Result{.session = id, .ttl = ttl};
}

Machine::Answer Machine::execute(CloseSession& close, Step& step) {
  end_session(close.session, SessionEnded::Reason::Closed, step);
  return Result{};
}

// S-39: first all deaths of the entry, then everything they held is freed, then the next owners are chosen, so that
// nothing is granted to a session, or to a wait, that ends in the same entry. Keys go by what they are attached to, ascending.
void Machine::fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) {
  decisions_.clear();
  Step step{index, {}, output, decisions_};
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
      end_lease(id, SessionEnded::Reason::Expired, step);
      continue;
    }
    const bool killed = state_.sessions.find(id)->ending;
    end_session(id, killed ? SessionEnded::Reason::Killed : SessionEnded::Reason::Expired, step);
  }
  for (const FiredTimer& timer : waits) {
    const bool of_lock =
        timer.generation == Generation(0) && state_.locks.time_out(Index(timer.id.value() & ~kWaitTimerBit), step.decisions);
    if (!of_lock) time_out_coordinated(timer, step);
  }
  for (const uint64_t delay : delays) state_.locks.end_delay(delay, step.decisions);
  settle(step);
  announce_leaders(step);
  state_.keys.sweep(kSweptPerEntry);
}

void Machine::end_session(SessionId id, SessionEnded::Reason reason, Step& step) {
  const std::optional<lease::Session> session = state_.sessions.find(id);
  COORDKIT_CHECK_MSG(session.has_value(), "INV_L07");
  step.output.timer_ops.push_back(disarm(session_timer(id), session->generation));
  state_.sessions.close(id);
  const bool closed = reason == SessionEnded::Reason::Closed;
  const auto ending = closed ? lock::Table::Ending::Closed : lock::Table::Ending::Expired;
  state_.locks.end(id, ending, state_.counter, step.decisions);
  end_coordinated(id, step);
  end_attached(LeaseId(id.value()));
  step.output.events.push_back({step.index, encode(Event(SessionEnded{id, reason}))});
}

// Grants what became grantable and announces every wait that ended.
void Machine::settle(Step& step) {
  state_.locks.settle(step.index, state_.counter, step.decisions);
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
    if (observed(coordination::Kind::Lock, name)) coordinated_.led.insert(name);
  }
  step.decisions.clear();
  settle_coordination(step);
}

void Machine::announce(const lock::Decision& decision, Step& step) {
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

void Machine::answer(Result result, ApplyOutput::Stage stage, Step& step) {
  result.revision = state_.keys.revision();
  if (result.code == ResultCode::Compacted) result.compacted = state_.keys.compacted();
  encode(result, scratch_);
  step.output.answer(step.index, step.request, scratch_, stage);
}

void Machine::timers(std::vector<TimerOp>& out) const {
  const auto add = [&](SessionId id, const lease::Session& session) {
    out.push_back(timer_of(id, session));
    return true;
  };
  state_.sessions.each_after({}, add);
  state_.leases.each_after({}, add);
  state_.locks.delays(
      [&](const lock::DelayView& delay) { out.push_back(arm(delay_timer(delay.id), Generation(0), delay.duration)); });
  state_.locks.timed_waits(
      [&](const lock::ClaimView& wait) { out.push_back(arm(wait_timer(wait.since), Generation(0), wait.timeout)); });
  coordination_timers(out);
  std::ranges::sort(out, {}, &TimerOp::id);
}

}  // namespace coordkit::machine
