// Calls that need no session: looking at locks and sessions, the keys, and the host's own machines.
#include <string>

#include "base/mutant.h"
#include "client/delegations.h"
#include "client/impl.h"
#include "coordkit/error.h"
#include "machine/guard.h"

namespace coordkit {
namespace {

SessionInfo info_of(machine::SessionInfo session) {
  return {.session = session.session,
          .ttl = session.ttl,
          .node = session.node,
          .boot = session.boot,
          .holds = session.holds,
          .waiters = session.waiters,
          .metadata = std::move(session.metadata),
          .ending = session.ending};
}

HolderInfo info_of(machine::HolderInfo holder) {
  return {.session = holder.session,
          .owner_tag = std::move(holder.owner_tag),
          .token = holder.token,
          .since = holder.since,
          .request = holder.request,
          .value = std::move(holder.value),
          .mode = holder.mode,
          .count = holder.count};
}

// coordkit's own machine has calls of its own; raw commands of it would go behind the back of sessions and locks.
absl::Status check_machine(MachineId machine) {
  if (machine >= kFirstHostMachine) return absl::OkStatus();
  return make_error(Reason::InvalidArgument, "machine ids below " + std::to_string(kFirstHostMachine.value()) +
                                                 " are coordkit's own; name one of the host's machines");
}

absl::Status check_fence(const std::optional<Fence>& fence) {
  if (!fence) return absl::OkStatus();
  if (!fence->token && fence->wants != Fence::Wants::Free) {
    return make_error(Reason::InvalidArgument, "the fence names no hold: make it from a grant that was acquired");
  }
  return client::check_lock_name(fence->lock);
}

// S-58: to the log any token of a block is current until a newer one was shown there; the process that lends the lock knows.
bool over_here(const std::optional<Fence>& fence) {
  if (!fence || !fence->hold || !fence->hold->delegation() || mutant(Mutant::LocalFenceUnasked)) return false;
  return !fence->hold->session()->delegations()->current(*fence->hold);
}

std::optional<Guard> guard_of(const std::optional<Fence>& fence) {
  if (!fence) return std::nullopt;
  if (fence->wants == Fence::Wants::Free) {
    return Guard{kCoordination, machine::encode(machine::Guard(machine::LockFree{fence->lock}))};
  }
  const bool exclusive = fence->wants == Fence::Wants::HeldExclusively;
  return Guard{kCoordination, machine::encode(machine::Guard(machine::LockHeld{fence->lock, fence->token, exclusive}))};
}

}  // namespace

Fence fenced_by(const HoldRef& hold) {
  return hold == nullptr ? Fence{} : Fence{.lock = hold->name(), .token = hold->token(), .hold = hold};
}

Fence while_free(std::string lock) { return {.lock = std::move(lock), .token = {}, .wants = Fence::Wants::Free}; }

// A command that its machine has queued is answered by its second completion.
template <typename T>
CallId Client::Impl::write(Write write, Callback<T> done, absl::AnyInvocable<absl::StatusOr<T>(const Completion&)> read) {
  if (write.door.ok()) write.door = check_fence(write.options.fence);
  if (!write.door.ok()) return refuse(std::move(done), write.door);
  const CallDeadline deadline = write.options.deadline;
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, write = std::move(write), read = std::move(read)](CallId id, Now) mutable {
                 if (over_here(write.options.fence)) {
                   fail(id, make_error(Reason::Fenced, "the sticky hold of this fence is over: acquire the lock again"));
                   return;
                 }
                 Call& call = *find(id);
                 call.submitted = true;
                 call.ticket = post_submit({.machine = write.machine,
                                            .command = SharedBytes(std::move(write.bytes)),
                                            .deadline = call.deadline,
                                            .guard = guard_of(write.options.fence)},
                                           [this, id, read = std::move(read)](const Completion& completion, Now) mutable {
                                             const bool ok = completion.status.ok();
                                             if (ok && completion.stage == ApplyOutput::Stage::Queued) return;
                                             answer<T>(id, ok ? read(completion) : absl::StatusOr<T>(completion.status));
                                           });
               });
}

// Whatever else writes with it (kv_calls.cc, lease_calls.cc).
template CallId Client::Impl::write(Write, Callback<PutResult>,
                                    absl::AnyInvocable<absl::StatusOr<PutResult>(const Completion&)>);
template CallId Client::Impl::write(Write, Callback<EraseResult>,
                                    absl::AnyInvocable<absl::StatusOr<EraseResult>(const Completion&)>);
template CallId Client::Impl::write(Write, Callback<TransactionResult>,
                                    absl::AnyInvocable<absl::StatusOr<TransactionResult>(const Completion&)>);
template CallId Client::Impl::write(Write, Callback<CompactResult>,
                                    absl::AnyInvocable<absl::StatusOr<CompactResult>(const Completion&)>);
template CallId Client::Impl::write(Write, Callback<QuotaResult>,
                                    absl::AnyInvocable<absl::StatusOr<QuotaResult>(const Completion&)>);
template CallId Client::Impl::write(Write, Callback<GrantedLease>,
                                    absl::AnyInvocable<absl::StatusOr<GrantedLease>(const Completion&)>);
template CallId Client::Impl::write(Write, Callback<RevokedLease>,
                                    absl::AnyInvocable<absl::StatusOr<RevokedLease>(const Completion&)>);

void Client::Impl::token_refuted(const HoldRef& hold) {
  Session* session = same_life(hold->session());
  if (session == nullptr) return;
  if (!hold->delegation()) return sessions_.lose(*session, hold->token());
  if (session->state->delegations()->current(*hold)) lose_locally(*session, hold);
}

CallId Client::check(const HoldRef& hold, Callback<bool> done, CallDeadline deadline) {
  Impl::Reading reading{.deadline = deadline};
  if (hold == nullptr) {
    reading.door = make_error(Reason::InvalidArgument, "no grant was given; pass the one that acquire() answered");
  }
  return impl_->read<bool>(std::move(reading), std::move(done),
                           [impl = impl_.get(), hold](const machine::Reads& state, const Completion&) {
                             const bool held = state.still_held(hold->name(), hold->token());
                             if (!held) impl->token_refuted(hold);
                             return held;
                           });
}

CallId Client::holders(std::string name, Callback<LockInfo> done, CallDeadline deadline) {
  absl::Status door = client::check_lock_name(name);
  return impl_->read<LockInfo>({.deadline = deadline, .door = std::move(door)}, std::move(done),
                               [name = std::move(name)](const machine::Reads& state, const Completion& completion) {
                                 machine::Holders now = state.holders_of(name);
                                 LockInfo out{.waiters = now.waiters, .delayed = now.delayed, .as_of = completion.index};
                                 for (machine::HolderInfo& holder : now.holders)
                                   out.holders.push_back(info_of(std::move(holder)));
                                 return out;
                               });
}

CallId Client::queue(std::string name, Callback<QueueInfo> done, CallDeadline deadline) {
  absl::Status door = client::check_lock_name(name);
  return impl_->read<QueueInfo>({.deadline = deadline, .door = std::move(door)}, std::move(done),
                                [name = std::move(name)](const machine::Reads& state, const Completion& completion) {
                                  machine::LockQueue now = state.queue_of(name, 0);
                                  return QueueInfo{
                                      .waiters = std::move(now.waiters), .more = now.more, .as_of = completion.index};
                                });
}

CallId Client::session_info(SessionId session, Callback<SessionInfo> done, CallDeadline deadline) {
  return impl_->read<SessionInfo>({.deadline = deadline}, std::move(done),
                                  [session](const machine::Reads& state, const Completion&) -> absl::StatusOr<SessionInfo> {
                                    std::optional<machine::SessionInfo> now = state.session(session);
                                    if (!now)
                                      return make_error(Reason::SessionNotFound, "the session has ended or never existed");
                                    return info_of(*std::move(now));
                                  });
}

CallId Client::sessions(SessionId after, uint64_t limit, Callback<SessionList> done, CallDeadline deadline) {
  return impl_->read<SessionList>({.deadline = deadline}, std::move(done),
                                  [after, limit](const machine::Reads& state, const Completion& completion) {
                                    machine::Sessions now = state.sessions_after(after, limit);
                                    SessionList out{.more = now.more, .as_of = completion.index};
                                    for (machine::SessionInfo& session : now.sessions) {
                                      out.sessions.push_back(info_of(std::move(session)));
                                    }
                                    return out;
                                  });
}

CallId Client::put(std::string key, std::string value, Callback<PutResult> done, WriteOptions options) {
  return keys().put({.key = std::move(key), .value = std::move(value)}, std::move(done), std::move(options));
}

CallId Client::get(std::string key, Callback<GetResult> done, CallDeadline deadline, ReadOptions options) {
  absl::Status door = client::check_key(key);
  return impl_->read<GetResult>(
      {.options = options, .deadline = deadline, .door = std::move(door)}, std::move(done),
      [key = std::move(key)](const machine::Reads& state, const Completion& completion) {
        machine::Entry now = state.entry(key);
        return GetResult{
            .entry = std::move(now.entry), .revision = now.revision, .as_of = completion.index, .age = completion.age};
      });
}

CallId Client::erase(std::string key, Callback<EraseResult> done, WriteOptions options) {
  return keys().erase({.key = std::move(key)}, std::move(done), std::move(options));
}

CallId Client::propose(MachineId machine, std::string command, Callback<ProposeResult> done, WriteOptions options) {
  return impl_->write<ProposeResult>(
      {.machine = machine, .bytes = std::move(command), .options = std::move(options), .door = check_machine(machine)},
      std::move(done), [](const Completion& completion) -> absl::StatusOr<ProposeResult> {
        return ProposeResult{.bytes = completion.bytes, .index = completion.index};
      });
}

CallId Client::query(MachineId machine, std::string question, Callback<QueryResult> done, CallDeadline deadline,
                     ReadOptions options) {
  return impl_->query(machine, std::move(question), std::move(done), deadline, options);
}

CallId Client::Impl::query(MachineId machine, std::string question, Callback<QueryResult> done, CallDeadline deadline,
                           ReadOptions options) {
  if (absl::Status door = check_machine(machine); !door.ok()) return refuse(std::move(done), door);
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, machine, question = std::move(question), options](CallId id, Now) mutable {
                 Call& call = *find(id);
                 call.ticket =
                     ask_engine({.machine = machine,
                                 .question = std::move(question),
                                 .consistency = options.consistency,
                                 .at_least = options.at_least,
                                 .deadline = call.deadline},
                                [this, id](const Completion& completion, Now) {
                                  if (!completion.status.ok()) return static_cast<void>(fail(id, completion.status));
                                  answer<QueryResult>(id, QueryResult{completion.bytes, completion.index, completion.age});
                                });
               });
}

}  // namespace coordkit
