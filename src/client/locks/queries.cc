// Reads of locks and sessions, in the caller's types.
#include <utility>

#include "client/calls/answers.h"
#include "client/impl.h"
#include "client/locks/lent_delegations.h"
#include "coordkit/error.h"

namespace coordkit {

CallId Client::check(const HoldRef& hold, Callback<bool> done, CallDeadline deadline) {
  absl::Status refusal = hold == nullptr ? client::no_grant() : absl::OkStatus();
  machine::StillHeld question;
  if (hold) question = {hold->name(), hold->token()};
  return impl_->reads.read<bool>({.deadline = deadline, .refusal = std::move(refusal)}, std::move(question), std::move(done),
                                 [impl = impl_.get(), hold](const machine::StillHeld&, bool still_held, const Completion&) {
                                   const bool held = still_held && !over_here(*hold);
                                   if (!held) impl->locks.changes().token_refuted(hold);
                                   return held;
                                 });
}

CallId Client::holders(std::string name, Callback<LockInfo> done, CallDeadline deadline) {
  absl::Status refusal = client::check_lock_name(name);
  return impl_->reads.read<LockInfo>(
      {.deadline = deadline, .refusal = std::move(refusal)}, machine::HoldersOf{std::move(name)}, std::move(done),
      [](const machine::HoldersOf&, machine::Holders now, const Completion& completion) {
        LockInfo out{.waiters = now.waiters, .delayed = now.delayed, .as_of = completion.index, .more = now.more};
        for (HolderInfo& holder : now.holders) out.holders.push_back(std::move(holder));
        return out;
      });
}

CallId Client::queue(std::string name, Callback<QueueInfo> done, CallDeadline deadline) {
  absl::Status refusal = client::check_lock_name(name);
  return impl_->reads.read<QueueInfo>(
      {.deadline = deadline, .refusal = std::move(refusal)}, machine::QueueOf{std::move(name)}, std::move(done),
      [](const machine::QueueOf&, machine::LockQueue now, const Completion& completion) {
        return QueueInfo{.waiters = std::move(now.waiters), .more = now.more, .as_of = completion.index};
      });
}

CallId Client::session_info(SessionId session, Callback<SessionInfo> done, CallDeadline deadline) {
  return impl_->reads.read<SessionInfo>(
      {.deadline = deadline}, machine::SessionOf{session}, std::move(done),
      [](const machine::SessionOf&, std::optional<machine::SessionInfo> now, const Completion&) -> absl::StatusOr<SessionInfo> {
        if (!now) return make_error(Reason::SessionNotFound, "the session has ended or never existed");
        SessionInfo& info = *now;
        return std::move(info);
      });
}

CallId Client::sessions(SessionId after, uint64_t limit, Callback<SessionList> done, CallDeadline deadline) {
  return impl_->reads.read<SessionList>({.deadline = deadline}, machine::SessionsAfter{after, limit}, std::move(done),
                                        [](const machine::SessionsAfter&, machine::Sessions now, const Completion& completion) {
                                          SessionList out{.more = now.more, .as_of = completion.index};
                                          for (SessionInfo& session : now.sessions) out.sessions.push_back(std::move(session));
                                          return out;
                                        });
}

CallId Client::locks_of(SessionId session, Token after, Callback<SessionLocks> done, CallDeadline deadline) {
  return impl_->reads.read<SessionLocks>(
      {.deadline = deadline,
       .refusal = session ? absl::OkStatus() : make_error(Reason::InvalidArgument, "no session is named; give its id")},
      machine::LocksOf{session, after}, std::move(done),
      [](const machine::LocksOf&, machine::HeldLocks held, const Completion& completion) {
        SessionLocks out{.locks = {}, .more = held.more, .as_of = completion.index};
        for (HeldLockInfo& lock : held.locks) out.locks.push_back(std::move(lock));
        return out;
      });
}

}  // namespace coordkit
