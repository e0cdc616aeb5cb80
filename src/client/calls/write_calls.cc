#include "client/calls/write_calls.h"

#include "client/calls/answers.h"
#include "coordkit/error.h"
#include "machine/guard.h"

namespace coordkit::client {
namespace {

absl::Status check_fence(const std::optional<Fence>& fence) {
  if (!fence) return absl::OkStatus();
  if (!fence->token && fence->wants != Fence::Wants::Free) {
    return make_error(Reason::InvalidArgument, "the fence names no hold: make it from a grant that was acquired");
  }
  return check_lock_name(fence->lock);
}

// The engine knows no locks: its refusal suits only a caller that had the lock.
absl::Status told(const absl::Status& status, const std::optional<Fence>& fence) {
  if (!fence || reason_of(status) != Reason::Fenced) return status;
  switch (fence->wants) {
    case Fence::Wants::Held: return status;
    case Fence::Wants::HeldExclusively:
      return make_error(Reason::Fenced,
                        "the lock was not held with this token, or not exclusively, when the write's turn came, so it was not "
                        "executed; ask check(), and upgrade the grant or give it up");
    case Fence::Wants::Free:
      return make_error(
          Reason::Fenced,
          "the lock was held when the write's turn came, so the write was not executed; write again when the lock is free");
  }
  return status;
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

WriteCalls::Write WriteCalls::command(const machine::Request& request, WriteOptions options) {
  return command(request, std::move(options), check_request(request));
}

WriteCalls::Write WriteCalls::command(const machine::Request& request, WriteOptions options, absl::Status refusal) {
  return {.answer_bytes_max = machine::answer_bytes_max(request),
          .bytes = requests_.encoded(request),
          .options = std::move(options),
          .refusal = std::move(refusal)};
}

CallId WriteCalls::submit(Write&& write, AnyCallback&& callback, OnExecuted&& on_executed) {
  if (write.refusal.ok()) write.refusal = check_fence(write.options.fence);
  if (!write.refusal.ok()) return calls_.refuse(std::move(callback), std::move(write.refusal));
  const CallDeadline deadline = write.options.deadline;
  return calls_.enter(
      std::move(callback), OnAbandon::Forget, deadline,
      [this, pending = pending_.emplace(std::move(write), std::move(on_executed))](CallId id, Now) { start(id, pending); });
}

// The log may not know that a local hold (S-58) is over. A caller that made the fence from a token alone may not know it
// either.
bool WriteCalls::over(const std::optional<Fence>& fence) const {
  if (!fence || fence->wants == Fence::Wants::Free) return false;
  return fence->hold ? over_here(*fence->hold) : lent_.over(fence->lock, fence->token);
}

// A command that its machine has queued is answered by its second completion.
void WriteCalls::start(CallId id, const PoolRef<Pending>& pending) {
  Write& write = pending->write;
  if (over(write.options.fence)) {
    calls_.fail(id, make_error(Reason::Fenced, "the sticky hold of this fence is over: acquire the lock again"));
    return;
  }
  Call& call = *calls_.find(id);
  call.submitted = true;
  call.ticket = requests_.submit({.machine = write.machine,
                                  .command = std::move(write.bytes),
                                  .deadline = call.deadline,
                                  .answer_bytes_max = write.answer_bytes_max,
                                  .guard = guard_of(write.options.fence)},
                                 [this, id, kept = pending](const Completion& completion, Now) {
                                   if (!completion.status.ok()) {
                                     calls_.fail(id, told(completion.status, kept->write.options.fence));
                                     return;
                                   }
                                   if (completion.stage != ApplyOutput::Stage::Queued) kept->on_executed(id, completion);
                                 });
}

}  // namespace coordkit::client
