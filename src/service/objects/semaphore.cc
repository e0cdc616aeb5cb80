#include "coordkit/objects/semaphore.h"

#include "service/objects/object_access.h"

namespace coordkit {
namespace {

PermitOptions options_of(const PermitsWanted& wanted) {
  return {.wait = wait_for_up_to(wanted.timeout), .initial_limit = wanted.initial_limit};
}

}  // namespace

AsyncCall Semaphore::set_limit_async(uint64_t limit, DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::set_limit, kSession, name_, limit);
}

AsyncCall Semaphore::acquire_async(PermitsWanted wanted, Callback<Grant> done) {
  return begin_of(session_, granting(session_, std::move(done)), &CoordinationCalls::acquire_permits, kSession, name_,
                  wanted.permits, options_of(wanted));
}

AsyncCall Semaphore::info_async(Callback<SemaphoreInfo> done) const {
  return begin_of(session_, std::move(done), &CoordinationCalls::semaphore, name_);
}

AsyncCall Semaphore::remove_async(DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::delete_semaphore, kSession, name_);
}

// ---- the same, blocking

absl::Status Semaphore::set_limit(uint64_t limit) { return wait_of(session_, *this, &Semaphore::set_limit_async, limit); }

absl::StatusOr<Grant> Semaphore::acquire(PermitsWanted wanted) {
  return wait_of(session_, *this, &Semaphore::acquire_async, wanted);
}

absl::StatusOr<Grant> Semaphore::try_acquire(PermitsWanted wanted) {
  wanted.timeout = Duration::zero();
  return acquire(wanted);
}

absl::StatusOr<SemaphoreInfo> Semaphore::info() const { return wait_of(session_, *this, &Semaphore::info_async); }

absl::Status Semaphore::remove() { return wait_of(session_, *this, &Semaphore::remove_async); }

}  // namespace coordkit
