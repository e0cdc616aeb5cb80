#include "coordkit/objects/counter.h"

#include "service/objects/object_access.h"
#include "service/shell/host.h"

namespace coordkit {
namespace {

// A counter needs no session, but one without a replica can only report that.
template <typename Answer, typename Method, typename... Args>
AsyncCall begin_at(CallSite site, absl::AnyInvocable<void(Answer)> done, Method method, Args... args) {
  if (site.host) return begin_by(std::move(site), std::move(done), method, std::move(args)...);
  tell(std::move(done), Answer(handle_without_session()));
  return {};
}

template <typename Self, typename Async, typename... Args>
auto wait_at(const std::shared_ptr<CallRunner>& host, Self& self, Async async, Args... args) {
  using Answer = decltype(call_detail::answer_of(async));
  return host ? wait_by(*host, self, async, args...) : Answer(handle_without_session());
}

}  // namespace

Counter::Counter(const Service& service, std::string name) : host_(HandleAccess::host(service)), name_(std::move(name)) {}
Counter::Counter(const Session& session, std::string name) : name_(std::move(name)) {
  if (const auto& handle = HandleAccess::handle(session)) host_ = handle->shared_host();
}

AsyncCall Counter::add_async(int64_t by, Callback<int64_t> done) {
  return begin_at(host_, std::move(done), &CoordinationCalls::add, name_, by);
}

AsyncCall Counter::set_async(int64_t value, Callback<int64_t> done) {
  return begin_at(host_, std::move(done), &CoordinationCalls::set, name_, value);
}

AsyncCall Counter::compare_and_set_async(int64_t expected, int64_t value, Callback<SwapResult> done) {
  return begin_at(host_, std::move(done), &CoordinationCalls::compare_and_set, name_, expected, value);
}

AsyncCall Counter::allocate_async(int64_t count, Callback<int64_t> done) {
  return begin_at(host_, std::move(done), &CoordinationCalls::allocate, name_, count);
}

AsyncCall Counter::remove_async(DoneCallback done) {
  return begin_at(host_, std::move(done), &CoordinationCalls::delete_counter, name_);
}

AsyncCall Counter::get_async(Callback<int64_t> done) const {
  return begin_at(host_, std::move(done), &CoordinationCalls::counter, name_);
}

Observation Counter::observe(Observer<CounterSeen> observer) const {
  if (!host_) return {};
  return ObservationMaker::make(host_, &CoordinationCalls::observe_counter, name_, std::move(observer));
}

// ---- the same, blocking

absl::StatusOr<int64_t> Counter::add(int64_t by) { return wait_at(host_, *this, &Counter::add_async, by); }

absl::StatusOr<int64_t> Counter::set(int64_t value) { return wait_at(host_, *this, &Counter::set_async, value); }

absl::StatusOr<SwapResult> Counter::compare_and_set(int64_t expected, int64_t value) {
  return wait_at(host_, *this, &Counter::compare_and_set_async, expected, value);
}

absl::StatusOr<int64_t> Counter::allocate(int64_t count) { return wait_at(host_, *this, &Counter::allocate_async, count); }

absl::Status Counter::remove() { return wait_at(host_, *this, &Counter::remove_async); }

absl::StatusOr<int64_t> Counter::get() const { return wait_at(host_, *this, &Counter::get_async); }

}  // namespace coordkit
