// Machine, the part for semaphores, barriers and the like: commands to the tables of src/coordination, verdicts to results.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "machine/machine.h"
#include "machine/record_codec.h"

namespace coordkit::machine {
namespace {

using coordination::Attempt;
using coordination::Coordination;
using coordination::Verdict;

ResultCode code_of(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::Ok: return ResultCode::Ok;
    case Verdict::Kind::Granted: return ResultCode::Granted;
    case Verdict::Kind::Queued: return ResultCode::Queued;
    case Verdict::Kind::Held: return ResultCode::Held;
    case Verdict::Kind::WaitTimeout: return ResultCode::WaitTimeout;
    case Verdict::Kind::Cancelled: return ResultCode::Cancelled;
    case Verdict::Kind::Lost: return ResultCode::Lost;
    case Verdict::Kind::Broken: return ResultCode::Broken;
    case Verdict::Kind::NotFound: return ResultCode::NotFound;
    case Verdict::Kind::AlreadyExists: return ResultCode::AlreadyExists;
    case Verdict::Kind::NotOwner: return ResultCode::NotOwner;
    case Verdict::Kind::TooManyParties: return ResultCode::TooManyParties;
    case Verdict::Kind::InvalidArgument: return ResultCode::InvalidArgument;
    case Verdict::Kind::Overflow: return ResultCode::CounterOverflow;
  }
  return ResultCode::InvalidArgument;
}

Result result_of(Verdict verdict) {
  return {.code = code_of(verdict.kind),
          .token = verdict.token,
          .since = verdict.since,
          .position = verdict.position,
          .id = verdict.id,
          .number = verdict.number,
          .swapped = verdict.swapped,
          .value = std::move(verdict.value)};
}

Attempt attempt_of(const auto& command) {
  return {.session = command.session,
          .name = command.name,
          .waits = command.wait.kind != Wait::Kind::None,
          .timeout = command.wait.timeout};
}

// ---- one per kind of command

using Step = coordination::Step;

Verdict run(const SetSemaphoreLimit& set, Coordination& state, Step& step) {
  return state.semaphores.set_limit(step, set.name, set.limit);
}
Verdict run(const AcquirePermits& acquire, Coordination& state, Step& step) {
  return state.semaphores.acquire(step, attempt_of(acquire), acquire.count, acquire.initial_limit);
}
Verdict run(const DeleteSemaphore& erase, Coordination& state, Step& step) { return state.semaphores.erase(step, erase.name); }
Verdict run(const CreateLatch& create, Coordination& state, Step& step) {
  return state.latches.create(step, create.name, create.count);
}
Verdict run(const CountDown& count, Coordination& state, Step& step) {
  return state.latches.count_down(step, count.name, count.by);
}
Verdict run(const AwaitLatch& await, Coordination& state, Step& step) { return state.latches.wait(step, attempt_of(await)); }
Verdict run(const DeleteLatch& erase, Coordination& state, Step& step) { return state.latches.erase(step, erase.name); }
Verdict run(const CloseBarrier& close, Coordination& state, Step& step) {
  return state.barriers.close(step, close.session, close.name, close.at_end);
}
Verdict run(const OpenBarrier& open, Coordination& state, Step& step) { return state.barriers.open(step, open.name); }
Verdict run(const AwaitBarrier& await, Coordination& state, Step& step) { return state.barriers.wait(step, attempt_of(await)); }
Verdict run(const EnterBarrier& enter, Coordination& state, Step& step) {
  return state.double_barriers.enter(step, attempt_of(enter), enter.parties, enter.at_end);
}
Verdict run(const LeaveBarrier& leave, Coordination& state, Step& step) {
  return state.double_barriers.leave(step, attempt_of(leave), leave.token);
}
Verdict run(const Enqueue& enqueue, Coordination& state, Step& step) {
  return state.queues.enqueue(step, enqueue.name, enqueue.priority, enqueue.value);
}
Verdict run(const ClaimItem& claim, Coordination& state, Step& step) {
  return state.queues.claim(step, attempt_of(claim), claim.term);
}
Verdict run(const AcknowledgeItem& done, Coordination& state, Step& step) {
  return state.queues.acknowledge(step, done.session, done.name, done.token);
}
Verdict run(const ChangeCounter& change, Coordination& state, Step& step) {
  using Operation = ChangeCounter::Operation;
  switch (change.operation) {
    case Operation::Add: return state.counters.add(step, change.name, change.operand);
    case Operation::Set: return state.counters.set(step, change.name, change.operand);
    case Operation::CompareAndSet: return state.counters.compare_and_set(step, change.name, change.expected, change.operand);
    case Operation::Allocate: return state.counters.allocate(step, change.name, change.operand);
    case Operation::Delete: return state.counters.erase(step, change.name);
  }
  return {.kind = Verdict::Kind::InvalidArgument};
}
Verdict run(const JoinGroup& join, Coordination& state, Step& step) {
  return state.groups.join(step, {join.name, join.session, join.owner_tag}, join.value);
}
Verdict run(const UpdateMember& update, Coordination& state, Step& step) {
  return state.groups.update(step, {update.name, update.session, update.owner_tag}, update.value);
}
Verdict run(const LeaveGroup& leave, Coordination& state, Step& step) {
  return state.groups.leave(step, {leave.name, leave.session, leave.owner_tag});
}

}  // namespace

// Collects what this entry decides; settle_coordination() announces it.
template <typename Run>
auto Machine::coordinate(const Machine::Step& step, Run run) {
  const auto next_token = [this] { return Token(state_.counter.next()); };
  coordination::Step inner{
      step.index,           step.request,       next_token, state_.coordination.waits, coordinated_.decisions,
      coordinated_.changes, coordinated_.timers};
  return run(inner);
}

Machine::Answer Machine::execute(CoordinationCommand& command, Step& step) {
  Verdict verdict = coordinate(step, [&](coordination::Step& inner) {
    return std::visit([&](const auto& one) { return run(one, state_.coordination, inner); }, command);
  });
  if (verdict.kind != Verdict::Kind::Queued) return result_of(std::move(verdict));
  answer(result_of(std::move(verdict)), ApplyOutput::Stage::Queued, step);
  const Duration timeout = state_.coordination.waits.rows().at(step.index).timeout;
  if (timeout > Duration::zero()) {
    step.output.timer_ops.push_back({TimerOp::Kind::Arm, wait_timer(step.index), Generation(0), timeout, {}});
  }
  return std::nullopt;
}

bool Machine::release_coordinated(SessionId session, std::string_view name, Token token, Step& step) {
  return coordinate(step, [&](coordination::Step& inner) { return state_.coordination.release(session, name, token, inner); });
}

Machine::Answer Machine::cancel_coordinated(SessionId session, const RequestId& request, Step& step) {
  const bool cancelled =
      coordinate(step, [&](coordination::Step& inner) { return state_.coordination.cancel(session, request, inner); });
  if (cancelled) return Result{.code = ResultCode::Cancelled};
  if (std::optional<Verdict> granted = state_.coordination.granted(session, request)) return result_of(*std::move(granted));
  return std::nullopt;
}

void Machine::end_coordinated(SessionId session, Step& step) {
  coordinate(step, [&](coordination::Step& inner) { state_.coordination.end(session, inner); });
}

void Machine::end_coordinated_waits(SessionId session, coordination::Waiter waiter, Step& step) {
  coordinate(step, [&](coordination::Step& inner) { state_.coordination.end_waits(session, waiter, inner); });
}

void Machine::regrant_coordinated(SessionId session, Step& step) {
  coordinate(step, [&](coordination::Step& inner) { state_.coordination.regrant_all(session, inner); });
}

void Machine::time_out_coordinated(const FiredTimer& timer, Step& step) {
  const Index queued(timer.id.value() & ~kWaitTimerBit);
  coordinate(step, [&](coordination::Step& inner) {
    return timer.generation == Generation(0)
               ? state_.coordination.time_out(queued, inner)
               : state_.coordination.queues.time_out(inner, queued, Token(timer.generation.value()));
  });
}

void Machine::settle_coordination(Step& step) {
  coordinate(step, [&](coordination::Step& inner) { state_.coordination.settle(inner); });
  for (coordination::Decision& decision : coordinated_.decisions) {
    if (decision.timed) {
      step.output.timer_ops.push_back({TimerOp::Kind::Disarm, wait_timer(decision.queued), {}, {}, {}});
    }
    const bool granted = decision.verdict.kind == Verdict::Kind::Granted;
    if (granted) COORDKIT_CHECK_MSG(state_.sessions.contains(decision.session), "INV_L07");
    Result result = result_of(std::move(decision.verdict));
    result.revision = state_.keys.revision();
    encode(result, scratch_);
    step.output.answer(step.index, decision.request, scratch_);
  }
  for (const coordination::ClaimTimer& timer : coordinated_.timers) {
    const bool armed = timer.duration > Duration::zero();
    step.output.timer_ops.push_back({armed ? TimerOp::Kind::Arm : TimerOp::Kind::Disarm,
                                     wait_timer(timer.queued),
                                     Generation(timer.token.value()),
                                     timer.duration,
                                     {}});
  }
  for (coordination::Change& change : coordinated_.changes) {
    if (!observed(change.kind, change.name)) continue;
    step.output.events.push_back({step.index, encode(Event(std::move(change)))});
  }
  coordinated_.decisions.clear();
  coordinated_.timers.clear();
  coordinated_.changes.clear();
}

void Machine::observe(std::string_view subject, bool wanted) {
  if (wanted) {
    observed_.insert(std::string(subject));
  } else {
    observed_.erase(std::string(subject));
  }
}

bool Machine::observed(coordination::Kind kind, std::string_view name) const {
  return !observed_.empty() && observed_.contains(subject_of(kind, name));
}

// An election is a lock with a value: its exclusive holder leads. One change per name and entry, so that a leader that
// is succeeded by another in the same entry leaves no vacancy in between.
void Machine::announce_leaders(Step& step) {
  for (const std::string& name : coordinated_.led) {
    coordination::Change change{.kind = coordination::Kind::Lock, .what = coordination::Change::What::Deleted, .name = name};
    state_.locks.holders(name, [&](const lock::ClaimView& hold) {
      if (lock::mode_on(hold, name) != lock::Mode::Exclusive) return;
      change.what = coordination::Change::What::Set;
      change.number = static_cast<int64_t>(hold.token.value());
      change.member = hold.since;
      change.session = hold.session;
      change.owner = std::string(hold.tag);
      change.value = std::string(hold.value);
    });
    step.output.events.push_back({step.index, encode(Event(std::move(change)))});
  }
  coordinated_.led.clear();
}

std::optional<ApplyOutput::Result> Machine::coordinated_standing(const Request& request, const Command& queued) const {
  const SessionId session = session_of(request);
  if (!session) return std::nullopt;
  const auto final = [&](Index index, Result result) {
    result.revision = state_.keys.revision();
    return ApplyOutput::Result{index, queued.request, ApplyOutput::Stage::Final, SharedBytes(encode(result))};
  };
  const std::optional<lease::Session> known = state_.sessions.find(session);
  if (!known || !known->owns(queued.request)) return final(queued.index, {.code = ResultCode::Lost});  // S-45
  if (const std::optional<Index> wait = state_.coordination.waits.rows().requested(queued.request)) {
    return ApplyOutput::Result{*wait, queued.request, ApplyOutput::Stage::Queued, {}};
  }
  std::optional<Verdict> granted = state_.coordination.granted(session, queued.request);
  if (!granted) return std::nullopt;
  const Index since = granted->since;
  return final(since, result_of(*std::move(granted)));
}

void Machine::coordination_timers(std::vector<TimerOp>& out) const {
  state_.coordination.timers(
      [&](Index wait, Duration timeout) {
        out.push_back({TimerOp::Kind::Arm, wait_timer(wait), Generation(0), timeout, {}});
      },
      [&](const coordination::ClaimTimer& claim) {
        out.push_back({TimerOp::Kind::Arm, wait_timer(claim.queued), Generation(claim.token.value()), claim.duration, {}});
      });
}

// ---- reads

namespace {

using coordination::Kind;

// Fills rows until there is no room.
class RowsOfReply {
 public:
  RowsOfReply(ObjectView& reply, uint64_t limit) : reply_(reply), left_(limit == 0 ? kRowsMax : std::min(limit, kRowsMax)) {}
  bool add(ObjectRow row) {
    const size_t size = row.owner.size() + row.value.size() + 1;
    if (left_ == 0 || bytes_ + size > kBytesMax) {
      reply_.more = true;
      return false;
    }
    --left_;
    bytes_ += size;
    reply_.rows.push_back(std::move(row));
    return true;
  }

 private:
  static constexpr size_t kBytesMax = 4 << 20;
  ObjectView& reply_;
  uint64_t left_;
  size_t bytes_ = 0;
};

void describe(const Coordination& state, Index id, const coordination::Semaphore& semaphore, ObjectView& reply,
              RowsOfReply rows) {
  reply.limit = semaphore.limit;
  reply.taken = state.semaphores.held(id);
  for (const Token token : state.semaphores.permits().of_object(id)) {
    const coordination::Permits& permits = state.semaphores.permits().at(token);
    if (!rows.add({.id = permits.since, .token = token, .session = permits.session, .count = permits.count})) return;
  }
}
void describe(const Coordination&, Index, const coordination::Latch& latch, ObjectView& reply, RowsOfReply) {
  reply.number = static_cast<int64_t>(latch.count);
}
void describe(const Coordination&, Index, const coordination::Barrier&, ObjectView&, RowsOfReply) {}
void describe(const Coordination& state, Index id, const coordination::DoubleBarrier& barrier, ObjectView& reply, RowsOfReply) {
  reply.limit = barrier.parties;
  reply.taken = state.double_barriers.places().of_object(id).size();
}
void describe(const Coordination& state, Index id, const coordination::Queue&, ObjectView& reply, RowsOfReply rows) {
  const size_t ready = state.queues.length(id);
  reply.number = static_cast<int64_t>(ready);
  reply.taken = state.queues.items().of_object(id).size() - ready;
  state.queues.ready(id, [&](Index item, const coordination::Item& row) {
    return rows.add({.id = item, .count = row.deliveries, .priority = row.priority, .value = row.value});
  });
}
void describe(const Coordination&, Index, const coordination::Counter& counter, ObjectView& reply, RowsOfReply) {
  reply.number = counter.value;
}
void describe(const Coordination& state, Index id, const coordination::Group&, ObjectView& reply, RowsOfReply rows) {
  const auto& members = state.groups.members();
  reply.number = static_cast<int64_t>(members.of_object(id).size());
  for (const Index member : members.of_object(id)) {
    const coordination::Member& row = members.at(member);
    if (!rows.add({.id = member, .session = row.session, .owner = row.owner, .value = row.value})) return;
  }
}

template <typename Row>
ObjectView look(const Coordination& state, const coordination::Rows<Row>& objects, std::string_view name, uint64_t limit) {
  ObjectView reply;
  const std::optional<Index> id = objects.named(name);
  if (!id) return reply;
  reply.exists = true;
  reply.waiters = state.waits.line(*id);
  describe(state, *id, objects.at(*id), reply, RowsOfReply(reply, limit));
  return reply;
}

}  // namespace

ObjectView Machine::object(Kind kind, std::string_view name, uint64_t limit) const {
  const Coordination& state = state_.coordination;
  const auto view = [&](const auto& objects) { return look(state, objects, name, limit); };
  switch (kind) {
    case Kind::Semaphore: return view(state.semaphores.semaphores());
    case Kind::Latch: return view(state.latches.latches());
    case Kind::Barrier: return view(state.barriers.barriers());
    case Kind::DoubleBarrier: return view(state.double_barriers.barriers());
    case Kind::Queue: return view(state.queues.queues());
    case Kind::Counter: return view(state.counters.counters());
    case Kind::Group: return view(state.groups.groups());
    case Kind::Lock: break;  // holders_of()
  }
  return {};
}

}  // namespace coordkit::machine
