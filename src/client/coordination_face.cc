// The typed calls of semaphores, barriers and the like, and what observers are told: each is a command, a wait or a question of
// coordination_calls.cc with the caller's types around it.
#include <utility>

#include "client/impl.h"
#include "client/waits.h"

namespace coordkit {
namespace {

using client::Executed;
using client::Foresight;
using client::Looked;
using coordination::Kind;
using machine::ChangeCounter;
using machine::CoordinationCommand;
using machine::ObjectReply;
using machine::ResultCode;

// A callback of what was executed or looked at, that gives the caller what `of` makes of it.
template <typename From, typename T, typename Of>
Callback<From> giving(Callback<T> done, Of of) {
  return [done = std::move(done), of](absl::StatusOr<From> from) mutable {
    if (from.ok()) {
      done(of(*from));
    } else {
      done(from.status());
    }
  };
}

Callback<Executed> giving(DoneCallback done) {
  return [done = std::move(done)](absl::StatusOr<Executed> executed) mutable { done(executed.status()); };
}

HoldRef hold_of(const Executed& executed) { return executed.hold; }
Index id_of(const Executed& executed) { return executed.result.id; }
int64_t number_of(const Executed& executed) { return executed.result.number; }

GroupMember member_of(const machine::ObjectRow& row) { return {row.id, row.session, row.owner, row.value}; }

// ---- what can be told without an entry

std::optional<ResultCode> held_if(bool held) { return held ? std::optional(ResultCode::Held) : std::nullopt; }

Foresight of_permits(uint64_t count, const PermitOptions& options) {
  if (options.wait.kind != LockWait::Kind::None) return {};
  return {Kind::Semaphore,
          [count, makes = options.initial_limit.has_value()](const ObjectReply& now) -> std::optional<ResultCode> {
            if (!now.exists) return makes ? std::nullopt : std::optional(ResultCode::NotFound);
            return held_if(now.waiters != 0 || now.taken > now.limit || count > now.limit - now.taken);
          }};
}

Foresight of_latch(const LockWait& wait) {
  return {Kind::Latch, [tries = wait.kind == LockWait::Kind::None](const ObjectReply& now) -> std::optional<ResultCode> {
            if (!now.exists) return ResultCode::NotFound;
            return now.number == 0 ? std::optional(ResultCode::Ok) : held_if(tries);
          }};
}

Foresight of_barrier(const LockWait& wait) {
  return {Kind::Barrier, [tries = wait.kind == LockWait::Kind::None](const ObjectReply& now) -> std::optional<ResultCode> {
            return now.exists ? held_if(tries) : std::optional(ResultCode::Ok);
          }};
}

Foresight of_item(const LockWait& wait) {
  if (wait.kind != LockWait::Kind::None) return {};
  return {Kind::Queue, [](const ObjectReply& now) { return held_if(now.number == 0); }};
}

}  // namespace

// ---- semaphores

CallId CoordinationCalls::set_limit(const SessionRef& session, std::string name, uint64_t limit, DoneCallback done,
                                    CallDeadline deadline) {
  machine::SetSemaphoreLimit body{.session = session ? session->id() : SessionId(), .name = name, .limit = limit};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::acquire_permits(const SessionRef& session, std::string name, uint64_t count, PermitOptions options,
                                          Callback<HoldRef> done) {
  machine::AcquirePermits body{.session = session ? session->id() : SessionId(),
                               .name = name,
                               .wait = client::wait_of(options.wait),
                               .count = count,
                               .initial_limit = options.initial_limit};
  return client_->impl_->await(session, std::move(body), std::move(name), options.wait, options.deadline,
                               of_permits(count, options), giving<Executed>(std::move(done), hold_of));
}

CallId CoordinationCalls::delete_semaphore(const SessionRef& session, std::string name, DoneCallback done,
                                           CallDeadline deadline) {
  machine::DeleteSemaphore body{.session = session ? session->id() : SessionId(), .name = name};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::semaphore(std::string name, Callback<SemaphoreInfo> done, CallDeadline deadline) {
  return client_->impl_->look({Kind::Semaphore, std::move(name), 0}, deadline,
                              giving<Looked>(std::move(done), [](const Looked& looked) {
                                const ObjectReply& now = looked.reply;
                                SemaphoreInfo info{.exists = now.exists,
                                                   .limit = now.limit,
                                                   .held = now.taken,
                                                   .waiters = now.waiters,
                                                   .holders = {},
                                                   .as_of = looked.as_of};
                                for (const auto& row : now.rows) {
                                  info.holders.push_back({row.token, row.session, row.count, row.id});
                                }
                                return info;
                              }));
}

// ---- latches

CallId CoordinationCalls::create_latch(const SessionRef& session, std::string name, uint64_t count, DoneCallback done,
                                       CallDeadline deadline) {
  machine::CreateLatch body{.session = session ? session->id() : SessionId(), .name = name, .count = count};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::count_down(const SessionRef& session, std::string name, uint64_t by, Callback<uint64_t> done,
                                     CallDeadline deadline) {
  machine::CountDown body{.session = session ? session->id() : SessionId(), .name = name, .by = by};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving<Executed>(std::move(done), [](const Executed& executed) {
                                   return static_cast<uint64_t>(executed.result.number);
                                 }));
}

CallId CoordinationCalls::await_latch(const SessionRef& session, std::string name, LockWait wait, DoneCallback done,
                                      CallDeadline deadline) {
  machine::AwaitLatch body{.session = session ? session->id() : SessionId(), .name = name, .wait = client::wait_of(wait)};
  return client_->impl_->await(session, std::move(body), std::move(name), wait, deadline, of_latch(wait),
                               giving(std::move(done)));
}

CallId CoordinationCalls::delete_latch(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline) {
  machine::DeleteLatch body{.session = session ? session->id() : SessionId(), .name = name};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::latch(std::string name, Callback<LatchInfo> done, CallDeadline deadline) {
  return client_->impl_->look({Kind::Latch, std::move(name), 0}, deadline,
                              giving<Looked>(std::move(done), [](const Looked& looked) {
                                const ObjectReply& now = looked.reply;
                                return LatchInfo{now.exists, static_cast<uint64_t>(now.number), now.waiters, looked.as_of};
                              }));
}

// ---- barriers

CallId CoordinationCalls::close_barrier(const SessionRef& session, std::string name, BarrierAtSessionEnd at_end,
                                        DoneCallback done, CallDeadline deadline) {
  machine::CloseBarrier body{.session = session ? session->id() : SessionId(),
                             .name = name,
                             .at_end = machine::AtSessionEnd(static_cast<uint8_t>(at_end))};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::open_barrier(const SessionRef& session, std::string name, DoneCallback done, CallDeadline deadline) {
  machine::OpenBarrier body{.session = session ? session->id() : SessionId(), .name = name};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::await_barrier(const SessionRef& session, std::string name, LockWait wait, DoneCallback done,
                                        CallDeadline deadline) {
  machine::AwaitBarrier body{.session = session ? session->id() : SessionId(), .name = name, .wait = client::wait_of(wait)};
  return client_->impl_->await(session, std::move(body), std::move(name), wait, deadline, of_barrier(wait),
                               giving(std::move(done)));
}

CallId CoordinationCalls::barrier(std::string name, Callback<BarrierInfo> done, CallDeadline deadline) {
  return client_->impl_->look({Kind::Barrier, std::move(name), 0}, deadline,
                              giving<Looked>(std::move(done), [](const Looked& looked) {
                                return BarrierInfo{looked.reply.exists, looked.reply.waiters, looked.as_of};
                              }));
}

// ---- double barriers

CallId CoordinationCalls::enter(const SessionRef& session, std::string name, uint64_t parties, PartyAtSessionEnd at_end,
                                LockWait wait, Callback<HoldRef> done, CallDeadline deadline) {
  machine::EnterBarrier body{.session = session ? session->id() : SessionId(),
                             .name = name,
                             .wait = client::wait_of(wait),
                             .parties = parties,
                             .at_end = machine::AtPartyEnd(static_cast<uint8_t>(at_end))};
  return client_->impl_->await(session, std::move(body), std::move(name), wait, deadline, {},
                               giving<Executed>(std::move(done), hold_of));
}

CallId CoordinationCalls::leave(const HoldRef& place, LockWait wait, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->leave(place, wait, std::move(done), deadline);
}

CallId CoordinationCalls::double_barrier(std::string name, Callback<DoubleBarrierInfo> done, CallDeadline deadline) {
  return client_->impl_->look({Kind::DoubleBarrier, std::move(name), 0}, deadline,
                              giving<Looked>(std::move(done), [](const Looked& looked) {
                                const ObjectReply& now = looked.reply;
                                return DoubleBarrierInfo{now.exists, now.limit, now.taken, now.waiters, looked.as_of};
                              }));
}

// ---- claim queues

CallId CoordinationCalls::enqueue(std::string name, std::string value, int64_t priority, Callback<Index> done,
                                  CallDeadline deadline) {
  machine::Enqueue body{.name = name, .priority = priority, .value = std::move(value)};
  return client_->impl_->command(nullptr, CoordinationCommand(std::move(body)), std::move(name), deadline,
                                 giving<Executed>(std::move(done), id_of));
}

CallId CoordinationCalls::claim(const SessionRef& session, std::string name, ClaimOptions options, Callback<ClaimedItem> done) {
  machine::ClaimItem body{.session = session ? session->id() : SessionId(),
                          .name = name,
                          .wait = client::wait_of(options.wait),
                          .term = options.term};
  return client_->impl_->await(
      session, std::move(body), std::move(name), options.wait, options.deadline, of_item(options.wait),
      giving<Executed>(std::move(done), [](const Executed& executed) {
        const machine::Result& result = executed.result;
        return ClaimedItem{executed.hold, result.id, static_cast<uint64_t>(result.number), result.value};
      }));
}

CallId CoordinationCalls::acknowledge(const HoldRef& claim, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->acknowledge(claim, std::move(done), deadline);
}

CallId CoordinationCalls::item_queue(std::string name, uint64_t limit, Callback<ItemQueueInfo> done, CallDeadline deadline) {
  return client_->impl_->look({Kind::Queue, std::move(name), limit}, deadline,
                              giving<Looked>(std::move(done), [](const Looked& looked) {
                                const ObjectReply& now = looked.reply;
                                ItemQueueInfo info{.length = static_cast<uint64_t>(now.number),
                                                   .claimed = now.taken,
                                                   .waiters = now.waiters,
                                                   .next = {},
                                                   .more = now.more,
                                                   .as_of = looked.as_of};
                                for (const auto& row : now.rows) {
                                  info.next.push_back({row.id, row.priority, row.count, row.value});
                                }
                                return info;
                              }));
}

// ---- counters

namespace {

CoordinationCommand change_of(const std::string& name, ChangeCounter::Operation operation, int64_t operand,
                              int64_t expected = 0) {
  return ChangeCounter{.name = name, .operation = operation, .operand = operand, .expected = expected};
}

}  // namespace

CallId CoordinationCalls::add(std::string name, int64_t by, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->command(nullptr, change_of(name, ChangeCounter::Operation::Add, by), name, deadline,
                                 giving<Executed>(std::move(done), number_of));
}

CallId CoordinationCalls::set(std::string name, int64_t value, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->command(nullptr, change_of(name, ChangeCounter::Operation::Set, value), name, deadline,
                                 giving<Executed>(std::move(done), number_of));
}

CallId CoordinationCalls::compare_and_set(std::string name, int64_t expected, int64_t value, Callback<SwapResult> done,
                                          CallDeadline deadline) {
  return client_->impl_->command(nullptr, change_of(name, ChangeCounter::Operation::CompareAndSet, value, expected), name,
                                 deadline, giving<Executed>(std::move(done), [](const Executed& executed) {
                                   return SwapResult{executed.result.swapped, executed.result.number};
                                 }));
}

CallId CoordinationCalls::allocate(std::string name, int64_t count, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->command(nullptr, change_of(name, ChangeCounter::Operation::Allocate, count), name, deadline,
                                 giving<Executed>(std::move(done), number_of));
}

CallId CoordinationCalls::delete_counter(std::string name, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->command(nullptr, change_of(name, ChangeCounter::Operation::Delete, 0), name, deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::counter(std::string name, Callback<int64_t> done, CallDeadline deadline) {
  return client_->impl_->look({Kind::Counter, std::move(name), 0}, deadline,
                              giving<Looked>(std::move(done), [](const Looked& looked) { return looked.reply.number; }));
}

// ---- groups

CallId CoordinationCalls::join(const SessionRef& session, std::string group, std::string owner, std::string value,
                               Callback<Index> done, CallDeadline deadline) {
  machine::JoinGroup body{.session = session ? session->id() : SessionId(),
                          .owner_tag = std::move(owner),
                          .name = group,
                          .value = std::move(value)};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(group), deadline,
                                 giving<Executed>(std::move(done), id_of));
}

CallId CoordinationCalls::update(const SessionRef& session, std::string group, std::string owner, std::string value,
                                 DoneCallback done, CallDeadline deadline) {
  machine::UpdateMember body{.session = session ? session->id() : SessionId(),
                             .owner_tag = std::move(owner),
                             .name = group,
                             .value = std::move(value)};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(group), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::leave_group(const SessionRef& session, std::string group, std::string owner, DoneCallback done,
                                      CallDeadline deadline) {
  machine::LeaveGroup body{.session = session ? session->id() : SessionId(), .owner_tag = std::move(owner), .name = group};
  return client_->impl_->command(&session, CoordinationCommand(std::move(body)), std::move(group), deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::members(std::string group, Callback<GroupInfo> done, CallDeadline deadline) {
  return client_->impl_->look({Kind::Group, std::move(group), 0}, deadline,
                              giving<Looked>(std::move(done), [](const Looked& looked) {
                                GroupInfo info{.members = {}, .more = looked.reply.more, .as_of = looked.as_of};
                                for (const auto& row : looked.reply.rows) info.members.push_back(member_of(row));
                                return info;
                              }));
}

// ---- elections

CallId CoordinationCalls::proclaim(const HoldRef& leadership, std::string value, DoneCallback done, CallDeadline deadline) {
  const SessionRef session = leadership ? leadership->session() : nullptr;
  machine::UpdateValue body;
  if (leadership) {
    body.session = session->id();
    body.name = leadership->name();
    body.token = leadership->token();
  }
  body.value = std::move(value);
  return client_->impl_->command(&session, std::move(body), leadership ? leadership->name() : "", deadline,
                                 giving(std::move(done)));
}

CallId CoordinationCalls::leader(std::string name, Callback<std::optional<LeaderInfo>> done, CallDeadline deadline) {
  return client_->impl_->leader(std::move(name), std::move(done), deadline);
}

// ---- observation

namespace {

using client::Observers;
using coordination::Change;
using Task = absl::AnyInvocable<void()>;

// Runs the caller's own code with what was seen; shared by all tasks of one observer.
template <typename T>
class Teller {
 public:
  explicit Teller(Observer<T> observer) : observer_(std::make_shared<Observer<T>>(std::move(observer))) {}
  Task operator()(T seen) const {
    return [observer = observer_, seen = std::move(seen)] { (*observer)(seen); };
  }

 private:
  std::shared_ptr<Observer<T>> observer_;
};

// A state that cannot be read (this replica is too old for it) reads as empty.
ObjectReply object_of(std::string_view bytes) { return machine::decode_object(bytes).value_or(ObjectReply()); }

Observers::Target target_of(Kind kind, const std::string& name, const ObserveOptions& options) {
  return {.kind = kind,
          .name = name,
          .question = machine::encode(machine::Query(machine::ObjectQuery{kind, name, 0})),
          .waiting_max = std::max<size_t>(options.waiting_max, 1),
          .snapshot = {},
          .change = {}};
}

}  // namespace

ObserverId CoordinationCalls::observe_leader(std::string name, Observer<LeaderSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Lock, name, options);
  target.question = machine::encode(machine::Query(machine::HoldersQuery{.name = name}));
  const Teller<LeaderSeen> tell(std::move(observer));
  target.snapshot = [tell](std::string_view bytes, Seen how, Index index) {
    return tell({how, index, client::leader_of(machine::decode_holders(bytes).value_or(machine::HoldersReply()))});
  };
  target.change = [tell](const Change& change, Index index) {
    LeaderSeen seen{Seen::Change, index, std::nullopt};
    if (change.what == Change::What::Set) {
      seen.leader =
          LeaderInfo{change.session, change.owner, Token(static_cast<uint64_t>(change.number)), change.member, change.value};
    }
    return tell(std::move(seen));
  };
  return client_->impl_->observe(std::move(target));
}

ObserverId CoordinationCalls::observe_counter(std::string name, Observer<CounterSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Counter, name, options);
  const Teller<CounterSeen> tell(std::move(observer));
  target.snapshot = [tell](std::string_view bytes, Seen how, Index index) {
    return tell({how, index, object_of(bytes).number});
  };
  target.change = [tell](const Change& change, Index index) { return tell({Seen::Change, index, change.number}); };
  return client_->impl_->observe(std::move(target));
}

ObserverId CoordinationCalls::observe_latch(std::string name, Observer<LatchSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Latch, name, options);
  const Teller<LatchSeen> tell(std::move(observer));
  const auto seen = [](Seen how, Index index, bool exists, int64_t count) {
    return LatchSeen{how, index, exists ? std::optional(static_cast<uint64_t>(count)) : std::nullopt};
  };
  target.snapshot = [tell, seen](std::string_view bytes, Seen how, Index index) {
    const ObjectReply now = object_of(bytes);
    return tell(seen(how, index, now.exists, now.number));
  };
  target.change = [tell, seen](const Change& change, Index index) {
    return tell(seen(Seen::Change, index, change.what == Change::What::Set, change.number));
  };
  return client_->impl_->observe(std::move(target));
}

ObserverId CoordinationCalls::observe_group(std::string name, Observer<GroupSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Group, name, options);
  const Teller<GroupSeen> tell(std::move(observer));
  target.snapshot = [tell](std::string_view bytes, Seen how, Index index) {
    GroupSeen seen{.how = how, .index = index};
    for (const auto& row : object_of(bytes).rows) seen.members.push_back(member_of(row));
    return tell(std::move(seen));
  };
  target.change = [tell](const Change& change, Index index) {
    return tell({.how = Seen::Change,
                 .index = index,
                 .members = {{change.member, change.session, change.owner, change.value}},
                 .what = GroupSeen::What(static_cast<uint8_t>(change.what))});
  };
  return client_->impl_->observe(std::move(target));
}

void CoordinationCalls::end_observation(ObserverId observer) { client_->impl_->end_observation(observer); }

}  // namespace coordkit
