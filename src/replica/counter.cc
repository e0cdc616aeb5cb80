#include "coordkit/counter.h"

#include "replica/coordination.h"
#include "replica/host.h"

namespace coordkit {
namespace {

// A counter needs no session: `start(calls, callback)` begins the call and gives its CallId.
template <typename T, typename Start>
AsyncCall begin_at(const std::shared_ptr<Host>& host, Start start, Callback<T> done) {
  return begin<absl::StatusOr<T>>(
      host,
      [start = std::move(start)](Client& client, Callback<T> answer) {
        return start(client.coordination(), std::move(answer));
      },
      std::move(done));
}

}  // namespace

Counter::Counter(const Replica& replica, std::string name) : host_(HandleAccess::host(replica)), name_(std::move(name)) {}

AsyncCall Counter::add_async(int64_t by, Callback<int64_t> done) {
  return begin_at<int64_t>(
      host_,
      [name = name_, by](CoordinationCalls calls, Callback<int64_t> answer) { return calls.add(name, by, std::move(answer)); },
      std::move(done));
}

AsyncCall Counter::set_async(int64_t value, Callback<int64_t> done) {
  return begin_at<int64_t>(
      host_,
      [name = name_, value](CoordinationCalls calls, Callback<int64_t> answer) {
        return calls.set(name, value, std::move(answer));
      },
      std::move(done));
}

AsyncCall Counter::compare_and_set_async(int64_t expected, int64_t value, Callback<SwapResult> done) {
  return begin_at<SwapResult>(
      host_,
      [name = name_, expected, value](CoordinationCalls calls, Callback<SwapResult> answer) {
        return calls.compare_and_set(name, expected, value, std::move(answer));
      },
      std::move(done));
}

AsyncCall Counter::allocate_async(int64_t count, Callback<int64_t> done) {
  return begin_at<int64_t>(
      host_,
      [name = name_, count](CoordinationCalls calls, Callback<int64_t> answer) {
        return calls.allocate(name, count, std::move(answer));
      },
      std::move(done));
}

AsyncCall Counter::remove_async(DoneCallback done) {
  return begin<absl::Status>(
      host_,
      [name = name_](Client& client, DoneCallback answer) {
        return client.coordination().delete_counter(name, std::move(answer));
      },
      std::move(done));
}

AsyncCall Counter::get_async(Callback<int64_t> done) const {
  return begin_at<int64_t>(
      host_,
      [name = name_](CoordinationCalls calls, Callback<int64_t> answer) { return calls.counter(name, std::move(answer)); },
      std::move(done));
}

Observation Counter::observe(Observer<CounterSeen> observer) const {
  return ObservationMaker::make(host_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_counter(name, std::move(observer));
  });
}

// ---- the same, blocking

absl::StatusOr<int64_t> Counter::add(int64_t by) {
  return wait_for_async<absl::StatusOr<int64_t>>(*host_, [&](Callback<int64_t> done) { add_async(by, std::move(done)); });
}

absl::StatusOr<int64_t> Counter::set(int64_t value) {
  return wait_for_async<absl::StatusOr<int64_t>>(*host_, [&](Callback<int64_t> done) { set_async(value, std::move(done)); });
}

absl::StatusOr<SwapResult> Counter::compare_and_set(int64_t expected, int64_t value) {
  return wait_for_async<absl::StatusOr<SwapResult>>(
      *host_, [&](Callback<SwapResult> done) { compare_and_set_async(expected, value, std::move(done)); });
}

absl::StatusOr<int64_t> Counter::allocate(int64_t count) {
  return wait_for_async<absl::StatusOr<int64_t>>(*host_,
                                                 [&](Callback<int64_t> done) { allocate_async(count, std::move(done)); });
}

absl::Status Counter::remove() {
  return wait_for_async<absl::Status>(*host_, [&](DoneCallback done) { remove_async(std::move(done)); });
}

absl::StatusOr<int64_t> Counter::get() const {
  return wait_for_async<absl::StatusOr<int64_t>>(*host_, [&](Callback<int64_t> done) { get_async(std::move(done)); });
}

}  // namespace coordkit
