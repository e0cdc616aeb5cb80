#include "coordkit/semaphore.h"

#include "replica/coordination.h"

namespace coordkit {
namespace {

PermitOptions options_of(const PermitsWanted& wanted) {
  return {.wait = wait_for_up_to(wanted.timeout), .initial_limit = wanted.initial_limit};
}

}  // namespace

AsyncCall Semaphore::set_limit_async(uint64_t limit, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_, limit](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.set_limit(session, name, limit, std::move(answer));
      },
      std::move(done));
}

AsyncCall Semaphore::acquire_async(PermitsWanted wanted, Callback<Grant> done) {
  return begin_of<absl::StatusOr<HoldRef>>(
      session_,
      [name = name_, wanted](CoordinationCalls calls, const SessionRef& session, Callback<HoldRef> answer) {
        return calls.acquire_permits(session, name, wanted.permits, options_of(wanted), std::move(answer));
      },
      granting(session_, std::move(done)));
}

AsyncCall Semaphore::info_async(Callback<SemaphoreInfo> done) const {
  return begin_of<absl::StatusOr<SemaphoreInfo>>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef&, Callback<SemaphoreInfo> answer) {
        return calls.semaphore(name, std::move(answer));
      },
      std::move(done));
}

AsyncCall Semaphore::remove_async(DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.delete_semaphore(session, name, std::move(answer));
      },
      std::move(done));
}

// ---- the same, blocking

absl::Status Semaphore::set_limit(uint64_t limit) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { set_limit_async(limit, std::move(done)); });
}

absl::StatusOr<Grant> Semaphore::acquire(PermitsWanted wanted) {
  return wait_of<absl::StatusOr<Grant>>(session_, [&](Callback<Grant> done) { acquire_async(wanted, std::move(done)); });
}

absl::StatusOr<Grant> Semaphore::try_acquire(PermitsWanted wanted) {
  wanted.timeout = Duration::zero();
  return acquire(wanted);
}

absl::StatusOr<SemaphoreInfo> Semaphore::info() const {
  return wait_of<absl::StatusOr<SemaphoreInfo>>(session_, [&](Callback<SemaphoreInfo> done) { info_async(std::move(done)); });
}

absl::Status Semaphore::remove() {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { remove_async(std::move(done)); });
}

}  // namespace coordkit
