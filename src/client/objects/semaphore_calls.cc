// Semaphores, with the caller's types around commands, waits and reads (objects.h).
#include <utility>

#include "client/impl.h"

namespace coordkit {
namespace {

using client::held_if;
using client::OutcomeOfView;
using coordination::Kind;
using machine::ResultCode;

// Answered without an entry only for callers that would not wait.
OutcomeOfView of_permits(uint64_t count, const PermitOptions& options) {
  if (options.wait.kind != LockWait::Kind::NoWait) return {};
  return {Kind::Semaphore,
          [count, makes = options.initial_limit.has_value()](const machine::ObjectView& now) -> std::optional<ResultCode> {
            if (!now.exists) return makes ? std::nullopt : std::optional(ResultCode::NotFound);
            return held_if(now.waiters != 0 || now.taken > now.limit || count > now.limit - now.taken);
          }};
}

}  // namespace

CallId CoordinationCalls::set_limit(const SessionRef& session, std::string name, uint64_t limit, DoneCallback done,
                                    CallDeadline deadline) {
  machine::SetSemaphoreLimit body{.name = std::move(name), .limit = limit};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::acquire_permits(const SessionRef& session, std::string name, uint64_t count, PermitOptions options,
                                          Callback<HoldRef> done) {
  machine::AcquirePermits body{.name = std::move(name), .count = count, .initial_limit = options.initial_limit};
  return client_->impl_->objects.await(session, std::move(body), options.wait, options.deadline, of_permits(count, options),
                                       std::move(done), client::hold_of);
}

CallId CoordinationCalls::delete_semaphore(const SessionRef& session, std::string name, DoneCallback done,
                                           CallDeadline deadline) {
  machine::DeleteSemaphore body{.name = std::move(name)};
  return client_->impl_->objects.command(session, std::move(body), deadline, std::move(done));
}

CallId CoordinationCalls::semaphore(std::string name, Callback<SemaphoreInfo> done, CallDeadline deadline) {
  return client_->impl_->reads.object(Kind::Semaphore, std::move(name), 0, deadline, std::move(done),
                                      [](const machine::ObjectView& now, Index as_of) {
                                        SemaphoreInfo info{.exists = now.exists,
                                                           .limit = now.limit,
                                                           .held = now.taken,
                                                           .waiters = now.waiters,
                                                           .holders = {},
                                                           .as_of = as_of,
                                                           .more = now.more};
                                        for (const auto& row : now.rows) {
                                          info.holders.push_back({row.token, row.session, row.count, row.id});
                                        }
                                        return info;
                                      });
}

}  // namespace coordkit
