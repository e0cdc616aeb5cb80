#include "coordkit/barrier.h"

#include "replica/coordination.h"

namespace coordkit {

AsyncCall Barrier::close_async(BarrierAtSessionEnd at_end, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_, at_end](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.close_barrier(session, name, at_end, std::move(answer));
      },
      std::move(done));
}

AsyncCall Barrier::open_async(DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.open_barrier(session, name, std::move(answer));
      },
      std::move(done));
}

AsyncCall Barrier::wait_async(Duration timeout, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_, timeout](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.await_barrier(session, name, wait_for_up_to(timeout), std::move(answer));
      },
      std::move(done));
}

AsyncCall Barrier::info_async(Callback<BarrierInfo> done) const {
  return begin_of<absl::StatusOr<BarrierInfo>>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef&, Callback<BarrierInfo> answer) {
        return calls.barrier(name, std::move(answer));
      },
      std::move(done));
}

AsyncCall DoubleBarrier::enter_async(Duration timeout, Callback<Grant> done) {
  return begin_of<absl::StatusOr<HoldRef>>(
      session_,
      [name = name_, parties = parties_, at_end = at_end_, timeout](CoordinationCalls calls, const SessionRef& session,
                                                                    Callback<HoldRef> answer) {
        return calls.enter(session, name, parties, at_end, wait_for_up_to(timeout), std::move(answer));
      },
      granting(session_, std::move(done)));
}

AsyncCall DoubleBarrier::leave_async(const Grant& place, Duration timeout, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [hold = HandleAccess::hold(place), timeout](CoordinationCalls calls, const SessionRef&, DoneCallback answer) {
        return calls.leave(hold, wait_for_up_to(timeout), std::move(answer));
      },
      std::move(done));
}

AsyncCall DoubleBarrier::info_async(Callback<DoubleBarrierInfo> done) const {
  return begin_of<absl::StatusOr<DoubleBarrierInfo>>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef&, Callback<DoubleBarrierInfo> answer) {
        return calls.double_barrier(name, std::move(answer));
      },
      std::move(done));
}

// ---- the same, blocking

absl::Status Barrier::close(BarrierAtSessionEnd at_end) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { close_async(at_end, std::move(done)); });
}

absl::Status Barrier::open() {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { open_async(std::move(done)); });
}

absl::Status Barrier::wait(Duration timeout) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { wait_async(timeout, std::move(done)); });
}

absl::StatusOr<BarrierInfo> Barrier::info() const {
  return wait_of<absl::StatusOr<BarrierInfo>>(session_, [&](Callback<BarrierInfo> done) { info_async(std::move(done)); });
}

absl::StatusOr<Grant> DoubleBarrier::enter(Duration timeout) {
  return wait_of<absl::StatusOr<Grant>>(session_, [&](Callback<Grant> done) { enter_async(timeout, std::move(done)); });
}

absl::Status DoubleBarrier::leave(const Grant& place, Duration timeout) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { leave_async(place, timeout, std::move(done)); });
}

absl::StatusOr<DoubleBarrierInfo> DoubleBarrier::info() const {
  return wait_of<absl::StatusOr<DoubleBarrierInfo>>(session_,
                                                    [&](Callback<DoubleBarrierInfo> done) { info_async(std::move(done)); });
}

}  // namespace coordkit
