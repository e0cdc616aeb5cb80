#include "coordkit/objects/latch.h"

#include "service/objects/object_access.h"

namespace coordkit {

AsyncCall Latch::create_async(uint64_t count, DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::create_latch, kSession, name_, count);
}

AsyncCall Latch::count_down_async(uint64_t by, Callback<uint64_t> done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::count_down, kSession, name_, by);
}

AsyncCall Latch::wait_async(Duration timeout, DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::await_latch, kSession, name_, wait_for_up_to(timeout));
}

AsyncCall Latch::remove_async(DoneCallback done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::delete_latch, kSession, name_);
}

AsyncCall Latch::info_async(Callback<LatchInfo> done) const {
  return begin_of(session_, std::move(done), &CoordinationCalls::latch, name_);
}

Observation Latch::observe(Observer<LatchSeen> observer) const {
  return observe_of(session_, &CoordinationCalls::observe_latch, name_, std::move(observer));
}

// ---- the same, blocking

absl::Status Latch::create(uint64_t count) { return wait_of(session_, *this, &Latch::create_async, count); }

absl::StatusOr<uint64_t> Latch::count_down(uint64_t by) { return wait_of(session_, *this, &Latch::count_down_async, by); }

absl::Status Latch::wait(Duration timeout) { return wait_of(session_, *this, &Latch::wait_async, timeout); }

absl::Status Latch::remove() { return wait_of(session_, *this, &Latch::remove_async); }

absl::StatusOr<LatchInfo> Latch::info() const { return wait_of(session_, *this, &Latch::info_async); }

}  // namespace coordkit
