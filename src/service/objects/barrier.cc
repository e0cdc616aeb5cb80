#include "coordkit/objects/barrier.h"

#include "service/objects/object_access.h"

namespace coordkit {

AsyncCall Barrier::close_async(BarrierAtSessionEnd at_end, DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::close_barrier, kSession, name_, at_end);
}

AsyncCall Barrier::open_async(DoneCallback done) {
  return begin_of<Admission::Always>(session_, std::move(done), &CoordinationCalls::open_barrier, kSession, name_);
}

AsyncCall Barrier::wait_async(Duration timeout, DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::await_barrier, kSession, name_, wait_for_up_to(timeout));
}

AsyncCall Barrier::info_async(Callback<BarrierInfo> done) const {
  return begin_of(session_, std::move(done), &CoordinationCalls::barrier, name_);
}

AsyncCall DoubleBarrier::enter_async(Duration timeout, Callback<Grant> done) {
  return begin_of(session_, granting(session_, std::move(done)), &CoordinationCalls::enter, kSession, name_, parties_, at_end_,
                  wait_for_up_to(timeout));
}

AsyncCall DoubleBarrier::leave_async(const Grant& place, Duration timeout, DoneCallback done) {
  return begin_end_of(session_, place, std::move(done), &CoordinationCalls::leave, wait_for_up_to(timeout));
}

AsyncCall DoubleBarrier::info_async(Callback<DoubleBarrierInfo> done) const {
  return begin_of(session_, std::move(done), &CoordinationCalls::double_barrier, name_);
}

// ---- the same, blocking

absl::Status Barrier::close(BarrierAtSessionEnd at_end) { return wait_of(session_, *this, &Barrier::close_async, at_end); }

absl::Status Barrier::open() { return wait_of(session_, *this, &Barrier::open_async); }

absl::Status Barrier::wait(Duration timeout) { return wait_of(session_, *this, &Barrier::wait_async, timeout); }

absl::StatusOr<BarrierInfo> Barrier::info() const { return wait_of(session_, *this, &Barrier::info_async); }

absl::StatusOr<Grant> DoubleBarrier::enter(Duration timeout) {
  return wait_of(session_, *this, &DoubleBarrier::enter_async, timeout);
}

absl::Status DoubleBarrier::leave(const Grant& place, Duration timeout) {
  return wait_of(session_, *this, &DoubleBarrier::leave_async, place, timeout);
}

absl::StatusOr<DoubleBarrierInfo> DoubleBarrier::info() const { return wait_of(session_, *this, &DoubleBarrier::info_async); }

}  // namespace coordkit
