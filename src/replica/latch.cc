#include "coordkit/latch.h"

#include "replica/coordination.h"

namespace coordkit {

AsyncCall Latch::create_async(uint64_t count, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_, count](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.create_latch(session, name, count, std::move(answer));
      },
      std::move(done));
}

AsyncCall Latch::count_down_async(uint64_t by, Callback<uint64_t> done) {
  return begin_of<absl::StatusOr<uint64_t>>(
      session_,
      [name = name_, by](CoordinationCalls calls, const SessionRef& session, Callback<uint64_t> answer) {
        return calls.count_down(session, name, by, std::move(answer));
      },
      std::move(done));
}

AsyncCall Latch::wait_async(Duration timeout, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_, timeout](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.await_latch(session, name, wait_for_up_to(timeout), std::move(answer));
      },
      std::move(done));
}

AsyncCall Latch::remove_async(DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef& session, DoneCallback answer) {
        return calls.delete_latch(session, name, std::move(answer));
      },
      std::move(done));
}

AsyncCall Latch::info_async(Callback<LatchInfo> done) const {
  return begin_of<absl::StatusOr<LatchInfo>>(
      session_,
      [name = name_](CoordinationCalls calls, const SessionRef&, Callback<LatchInfo> answer) {
        return calls.latch(name, std::move(answer));
      },
      std::move(done));
}

Observation Latch::observe(Observer<LatchSeen> observer) const {
  return observe_of(session_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_latch(name, std::move(observer));
  });
}

// ---- the same, blocking

absl::Status Latch::create(uint64_t count) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { create_async(count, std::move(done)); });
}

absl::StatusOr<uint64_t> Latch::count_down(uint64_t by) {
  return wait_of<absl::StatusOr<uint64_t>>(session_, [&](Callback<uint64_t> done) { count_down_async(by, std::move(done)); });
}

absl::Status Latch::wait(Duration timeout) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { wait_async(timeout, std::move(done)); });
}

absl::Status Latch::remove() {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { remove_async(std::move(done)); });
}

absl::StatusOr<LatchInfo> Latch::info() const {
  return wait_of<absl::StatusOr<LatchInfo>>(session_, [&](Callback<LatchInfo> done) { info_async(std::move(done)); });
}

}  // namespace coordkit
