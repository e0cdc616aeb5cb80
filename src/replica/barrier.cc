#include "coordkit/barrier.h"

#include "replica/coordination.h"

namespace coordkit {

absl::Status Barrier::close(BarrierAtSessionEnd at_end) {
  return call_done(session_, [name = name_, at_end](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.close_barrier(session, name, at_end, std::move(done));
  });
}

absl::Status Barrier::open() {
  return call_done(session_, [name = name_](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.open_barrier(session, name, std::move(done));
  });
}

absl::Status Barrier::wait(Duration timeout) {
  return call_done(session_, [name = name_, timeout](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.await_barrier(session, name, wait_for_up_to(timeout), std::move(done));
  });
}

void Barrier::wait_async(Duration timeout, DoneCallback done) {
  post_call(session_, std::move(done),
            [name = name_, timeout](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
              calls.await_barrier(session, name, wait_for_up_to(timeout), std::move(answer));
            });
}

absl::StatusOr<BarrierInfo> Barrier::info() const {
  return call_of<BarrierInfo>(session_, [name = name_](CoordinationCalls calls, const SessionRef&, Callback<BarrierInfo> done) {
    calls.barrier(name, std::move(done));
  });
}

absl::StatusOr<Grant> DoubleBarrier::enter(Duration timeout) {
  return granted_to(session_,
                    call_of<HoldRef>(session_, [name = name_, parties = parties_, at_end = at_end_, timeout](
                                                   CoordinationCalls calls, const SessionRef& session, Callback<HoldRef> done) {
                      calls.enter(session, name, parties, at_end, wait_for_up_to(timeout), std::move(done));
                    }));
}

void DoubleBarrier::enter_async(Duration timeout, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  post_call(session_, granting(session_, std::move(done)),
            [name = name_, parties = parties_, at_end = at_end_, timeout](CoordinationCalls calls, const SessionRef& session,
                                                                          Callback<HoldRef> answer) {
              calls.enter(session, name, parties, at_end, wait_for_up_to(timeout), std::move(answer));
            });
}

absl::Status DoubleBarrier::leave(const Grant& place, Duration timeout) {
  return call_done(session_,
                   [hold = HandleAccess::hold(place), timeout](CoordinationCalls calls, const SessionRef&, DoneCallback done) {
                     calls.leave(hold, wait_for_up_to(timeout), std::move(done));
                   });
}

absl::StatusOr<DoubleBarrierInfo> DoubleBarrier::info() const {
  return call_of<DoubleBarrierInfo>(
      session_, [name = name_](CoordinationCalls calls, const SessionRef&, Callback<DoubleBarrierInfo> done) {
        calls.double_barrier(name, std::move(done));
      });
}

}  // namespace coordkit
