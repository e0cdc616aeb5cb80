#include "coordkit/latch.h"

#include "replica/coordination.h"

namespace coordkit {

absl::Status Latch::create(uint64_t count) {
  return call_done(session_, [name = name_, count](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.create_latch(session, name, count, std::move(done));
  });
}

absl::StatusOr<uint64_t> Latch::count_down(uint64_t by) {
  return call_of<uint64_t>(session_,
                           [name = name_, by](CoordinationCalls calls, const SessionRef& session, Callback<uint64_t> done) {
                             calls.count_down(session, name, by, std::move(done));
                           });
}

absl::Status Latch::wait(Duration timeout) {
  return call_done(session_, [name = name_, timeout](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.await_latch(session, name, wait_for_up_to(timeout), std::move(done));
  });
}

void Latch::wait_async(Duration timeout, DoneCallback done) {
  post_call(session_, std::move(done),
            [name = name_, timeout](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
              calls.await_latch(session, name, wait_for_up_to(timeout), std::move(answer));
            });
}

absl::Status Latch::remove() {
  return call_done(session_, [name = name_](CoordinationCalls calls, const SessionRef& session, DoneCallback done) {
    calls.delete_latch(session, name, std::move(done));
  });
}

absl::StatusOr<LatchInfo> Latch::info() const {
  return call_of<LatchInfo>(session_, [name = name_](CoordinationCalls calls, const SessionRef&, Callback<LatchInfo> done) {
    calls.latch(name, std::move(done));
  });
}

Observation Latch::observe(Observer<LatchSeen> observer) const {
  return observe_of(session_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_latch(name, std::move(observer));
  });
}

}  // namespace coordkit
