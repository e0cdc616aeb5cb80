#include "coordkit/counter.h"

#include "replica/coordination.h"
#include "replica/host.h"

namespace coordkit {

Counter::Counter(const Replica& replica, std::string name) : host_(HandleAccess::host(replica)), name_(std::move(name)) {}

absl::StatusOr<int64_t> Counter::add(int64_t by) {
  return wait_for<int64_t>(*host_, [name = name_, by](Client& client, Callback<int64_t> done) {
    client.coordination().add(name, by, std::move(done));
  });
}

absl::StatusOr<int64_t> Counter::set(int64_t value) {
  return wait_for<int64_t>(*host_, [name = name_, value](Client& client, Callback<int64_t> done) {
    client.coordination().set(name, value, std::move(done));
  });
}

absl::StatusOr<SwapResult> Counter::compare_and_set(int64_t expected, int64_t value) {
  return wait_for<SwapResult>(*host_, [name = name_, expected, value](Client& client, Callback<SwapResult> done) {
    client.coordination().compare_and_set(name, expected, value, std::move(done));
  });
}

absl::StatusOr<int64_t> Counter::allocate(int64_t count) {
  return wait_for<int64_t>(*host_, [name = name_, count](Client& client, Callback<int64_t> done) {
    client.coordination().allocate(name, count, std::move(done));
  });
}

void Counter::add_async(int64_t by, Callback<int64_t> done) {
  host_->call([name = name_, by, done = std::move(done)](Client& client) mutable {
    client.coordination().add(name, by, std::move(done));
  });
}

absl::Status Counter::remove() {
  return wait_for_done(*host_, [name = name_](Client& client, DoneCallback done) {
    client.coordination().delete_counter(name, std::move(done));
  });
}

absl::StatusOr<int64_t> Counter::get() const {
  return wait_for<int64_t>(
      *host_, [name = name_](Client& client, Callback<int64_t> done) { client.coordination().counter(name, std::move(done)); });
}

Observation Counter::observe(Observer<CounterSeen> observer) const {
  return ObservationMaker::make(host_, [name = name_, observer = std::move(observer)](CoordinationCalls calls) mutable {
    return calls.observe_counter(name, std::move(observer));
  });
}

}  // namespace coordkit
