#include "coordkit/semaphore.h"

#include "replica/coordination.h"

namespace coordkit {
namespace {

PermitOptions options_of(const PermitsWanted& wanted) {
  return {.wait = wait_for_up_to(wanted.timeout), .initial_limit = wanted.initial_limit};
}

}  // namespace

absl::Status Semaphore::set_limit(uint64_t limit) {
  return call_done(session_, [name = name_, limit](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.set_limit(session, name, limit, std::move(done));
  });
}

absl::StatusOr<Grant> Semaphore::acquire(PermitsWanted wanted) {
  return granted_to(session_,
                    call_of<HoldRef>(session_, [name = name_, wanted](CoordinationCalls calls, const SessionRef& session,
                                                                      Callback<HoldRef> done) {
                      calls.acquire_permits(session, name, wanted.permits, options_of(wanted), std::move(done));
                    }));
}

absl::StatusOr<Grant> Semaphore::try_acquire(PermitsWanted wanted) {
  wanted.timeout = Duration::zero();
  return acquire(wanted);
}

void Semaphore::acquire_async(PermitsWanted wanted, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  post_call(session_, granting(session_, std::move(done)),
            [name = name_, wanted](CoordinationCalls calls, const SessionRef& session, Callback<HoldRef> answer) {
              calls.acquire_permits(session, name, wanted.permits, options_of(wanted), std::move(answer));
            });
}

absl::StatusOr<SemaphoreInfo> Semaphore::info() const {
  return call_of<SemaphoreInfo>(session_,
                                [name = name_](CoordinationCalls calls, const SessionRef&, Callback<SemaphoreInfo> done) {
                                  calls.semaphore(name, std::move(done));
                                });
}

absl::Status Semaphore::remove() {
  return call_done(session_, [name = name_](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.delete_semaphore(session, name, std::move(done));
  });
}

}  // namespace coordkit
