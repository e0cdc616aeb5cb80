#include "coordkit/counter.h"

#include "replica/coordination.h"
#include "replica/host.h"

namespace coordkit {
namespace {

// A counter needs no session: `start(calls, callback)` begins the call and gives its CallId.
template <typename Answer, typename Start>
AsyncCall begin_at(const std::shared_ptr<CallRunner>& host, Start start, absl::AnyInvocable<void(Answer)> done) {
  if (!host) {
    std::move(done)(Answer(handle_without_session()));
    return {};
  }
  return begin<Answer>(
      host,
      [start = std::move(start)](Client& client, absl::AnyInvocable<void(Answer)> answer) {
        return start(client.coordination(), std::move(answer));
      },
      std::move(done));
}

template <typename Answer, typename Start>
Answer wait_at(const std::shared_ptr<CallRunner>& host, Start start) {
  if (!host) return handle_without_session();
  return wait_for_async<Answer>(*host, std::move(start));
}

}  // namespace

Counter::Counter(const Replica& replica, std::string name) : host_(HandleAccess::host(replica)), name_(std::move(name)) {}
Counter::Counter(const Session& session, std::string name) : name_(std::move(name)) {
  if (const auto& handle = HandleAccess::handle(session)) host_ = handle->shared_host();
}

AsyncCall Counter::add_async(int64_t by, Callback<int64_t> done) {
  return begin_at<absl::StatusOr<int64_t>>(
      host_,
      [name = name_, by](CoordinationCalls calls, Callback<int64_t> answer) { return calls.add(name, by, std::move(answer)); },
      std::move(done));
}

AsyncCall Counter::set_async(int64_t value, Callback<int64_t> done) {
  return begin_at<absl::StatusOr<int64_t>>(
      host_,
      [name = name_, value](CoordinationCalls calls, Callback<int64_t> answer) {
        return calls.set(name, value, std::move(answer));
      },
      std::move(done));
}

AsyncCall Counter::compare_and_set_async(int64_t expected, int64_t value, Callback<SwapResult> done) {
  return begin_at<absl::StatusOr<SwapResult>>(
      host_,
      [name = name_, expected, value](CoordinationCalls calls, Callback<SwapResult> answer) {
        return calls.compare_and_set(name, expected, value, std::move(answer));
      },
      std::move(done));
}

AsyncCall Counter::allocate_async(int64_t count, Callback<int64_t> done) {
  return begin_at<absl::StatusOr<int64_t>>(
      host_,
      [name = name_, count](CoordinationCalls calls, Callback<int64_t> answer) {
        return calls.allocate(name, count, std::move(answer));
      },
      std::move(done));
}

AsyncCall Counter::remove_async(DoneCallback done) {
  return begin_at<absl::Status>(
      host_,
      [name = name_](CoordinationCalls calls, DoneCallback answer) { return calls.delete_counter(name, std::move(answer)); },
      std::move(done));
}

AsyncCall Counter::get_async(Callback<int64_t> done) const {
  return begin_at<absl::StatusOr<int64_t>>(
      host_,
      [name = name_](CoordinationCalls calls, Callback<int64_t> answer) { return calls.counter(name, std::move(answer)); },
      std::move(done));
}

Observation Counter::observe(Observer<CounterSeen> observer) const {
  if (!host_) return {};
  return ObservationMaker::make(host_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_counter(name, std::move(observer));
  });
}

// ---- the same, blocking

absl::StatusOr<int64_t> Counter::add(int64_t by) {
  return wait_at<absl::StatusOr<int64_t>>(host_, [&](Callback<int64_t> done) { add_async(by, std::move(done)); });
}

absl::StatusOr<int64_t> Counter::set(int64_t value) {
  return wait_at<absl::StatusOr<int64_t>>(host_, [&](Callback<int64_t> done) { set_async(value, std::move(done)); });
}

absl::StatusOr<SwapResult> Counter::compare_and_set(int64_t expected, int64_t value) {
  return wait_at<absl::StatusOr<SwapResult>>(
      host_, [&](Callback<SwapResult> done) { compare_and_set_async(expected, value, std::move(done)); });
}

absl::StatusOr<int64_t> Counter::allocate(int64_t count) {
  return wait_at<absl::StatusOr<int64_t>>(host_, [&](Callback<int64_t> done) { allocate_async(count, std::move(done)); });
}

absl::Status Counter::remove() {
  return wait_at<absl::Status>(host_, [&](DoneCallback done) { remove_async(std::move(done)); });
}

absl::StatusOr<int64_t> Counter::get() const {
  return wait_at<absl::StatusOr<int64_t>>(host_, [&](Callback<int64_t> done) { get_async(std::move(done)); });
}

}  // namespace coordkit
