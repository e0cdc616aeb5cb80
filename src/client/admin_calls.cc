// What those ask who look after others: what a session holds, what this client has seen, the end of a lock-delay; and a
// campaign of somebody who may lead already.
#include <utility>

#include "client/impl.h"
#include "client/typed_answers.h"
#include "coordkit/error.h"

namespace coordkit {

using client::giving;

CallId Client::clear_delay(std::string name, DoneCallback done, CallDeadline deadline) {
  machine::ClearDelay body{.name = name};
  return impl_->command(nullptr, std::move(body), std::move(name), deadline, giving(std::move(done)));
}

CallId Client::locks_of(SessionId session, Token after, Callback<SessionLocks> done, CallDeadline deadline) {
  return impl_->read<SessionLocks>(
      {.deadline = deadline,
       .door = session ? absl::OkStatus() : make_error(Reason::InvalidArgument, "no session is named; give its id")},
      std::move(done), [session, after](const machine::Reads& state, const Completion& completion) {
        machine::HeldLocks held = state.locks_of(session, after);
        SessionLocks out{.locks = {}, .more = held.more, .as_of = completion.index};
        for (machine::HeldLock& lock : held.locks) {
          out.locks.push_back(
              {std::move(lock.name), std::move(lock.owner_tag), lock.token, lock.since, lock.request, lock.mode, lock.count});
        }
        return out;
      });
}

// ---- statistics

LockStatistics Client::lock_statistics() const { return impl_->lock_statistics(); }

// What other threads were granted here is counted where they are granted it.
LockStatistics Client::Impl::lock_statistics() const {
  LockStatistics out = statistics_.so_far();
  const uint64_t by_threads = sessions_.granted_by_threads();
  out.grants += by_threads;
  out.local_grants += by_threads;
  return out;
}

// ---- campaigns

CallId Client::Impl::campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done) {
  const CallId id = acquire(session, std::move(name),
                            {.wait = options.wait,
                             .owner_tag = std::move(options.owner),
                             .value = std::move(options.value),
                             .deadline = options.deadline},
                            std::move(done));
  if (Call* call = find(id)) call->proclaims = options.proclaim_if_leader;
  return id;
}

// The owner has the lock: it keeps it, with another value, and is answered the handle that it has. A hold of which this client
// has no handle is not its to proclaim.
void Client::Impl::proclaim_instead(CallId id, const SessionRef& of, const std::string& name, Token token, std::string value) {
  Call* call = find(id);
  if (call == nullptr) return;
  Session* session = same_life(of);
  const auto found = session != nullptr ? session->holds.find(token) : decltype(session->holds.find(token))();
  const bool known = session != nullptr && found != session->holds.end() && found->second->name() == name;
  if (!known) return not_granted(id, {.code = machine::ResultCode::AlreadyHeld, .token = token}, name);
  const HoldRef hold = found->second;
  call->flight = nullptr;
  machine::UpdateValue body{session->id(), hold->owner_tag(), name, token, std::move(value)};
  call->ticket = submit_for(*session, {.body = std::move(body)}, call->deadline, Urgency::Normal,
                            [this, id, hold](const Completion& completion, Now) {
                              const auto result = client::result_of(completion);
                              const absl::Status status =
                                  result.ok() ? client::status_of(*result, hold->name()) : result.status();
                              answer<HoldRef>(id, status.ok() ? absl::StatusOr<HoldRef>(hold) : status);
                            });
}

}  // namespace coordkit
