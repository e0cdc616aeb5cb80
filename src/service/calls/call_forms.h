// The two forms of a call of door 1, each derived from one method: asynchronous, from one of the client; blocking, from the
// asynchronous form of the same call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "service/calls/call_control.h"
#include "service/calls/waiting.h"

namespace coordkit {

// Marks the callback's position among the arguments of a client method; without it the callback comes last.
struct AnswerHere {};
inline constexpr AnswerHere kAnswer;

namespace call_forms {

template <typename Face>
decltype(auto) face_of(Client& client) {
  if constexpr (std::is_same_v<Face, KeyCalls>) {
    return client.keys();
  } else if constexpr (std::is_same_v<Face, LeaseCalls>) {
    return client.leases();
  } else if constexpr (std::is_same_v<Face, PermissionCalls>) {
    return client.permissions();
  } else if constexpr (std::is_same_v<Face, CoordinationCalls>) {
    return client.coordination();
  } else {
    return static_cast<Client&>(client);
  }
}

template <typename T, typename Callback>
T&& given(T& argument, Callback&) {
  return std::move(argument);
}
template <typename Callback>
Callback&& given(AnswerHere&, Callback& answer) {
  return std::move(answer);
}

// A call that uses its default deadline need not say so.
template <typename Face, typename Method, typename... Args>
CallId invoke(Face&& face, Method method, Args&&... args) {
  if constexpr (std::is_invocable_v<Method, Face&, Args&&...>) {
    return (face.*method)(std::forward<Args>(args)...);
  } else {
    return (face.*method)(std::forward<Args>(args)..., CallDeadline());
  }
}

// When the call becomes worthless, as far as its arguments say; the earliest.
template <typename T>
LaggingTime deadline_in(const T&) {
  return LaggingTime::max();
}
inline LaggingTime deadline_in(const LaggingTime& deadline) { return deadline; }
inline LaggingTime deadline_in(const CallDeadline& deadline) { return deadline.value_or(LaggingTime::max()); }
inline LaggingTime deadline_in(const WriteOptions& options) { return deadline_in(options.deadline); }

// How long the caller of a blocking call waits at most, as its arguments say: the last of them that is a time, or options with
// a timeout.
template <typename T>
void look_for_timeout(const T& argument, Duration& timeout) {
  if constexpr (std::is_same_v<T, Duration>) {
    timeout = argument;
  } else if constexpr (requires { static_cast<Duration>(argument.timeout); }) {
    timeout = argument.timeout;
  }
}
template <typename... Args>
Duration timeout_in(const Args&... args) {
  Duration timeout = kCallLasts;
  (look_for_timeout(args, timeout), ...);
  return timeout;
}

}  // namespace call_forms

// Whether a call may be refused because too much is in progress. Not one that releases something or frees someone.
enum class Admission : uint8_t { MayRefuse, Always };

// Begins `face.method(args..., callback)` of the client, whichever face the method belongs to.
template <Admission admission = Admission::MayRefuse, typename Answer, typename Face, typename... Parameters, typename... Args>
AsyncCall begin_by(CallSite site, absl::AnyInvocable<void(Answer)> done, CallId (Face::*method)(Parameters...), Args... args) {
  const LaggingTime deadline = std::min({LaggingTime::max(), call_forms::deadline_in(args)...});
  auto start = [method, ... args = std::move(args)](Client& client, absl::AnyInvocable<void(Answer)> answer) mutable {
    auto&& face = call_forms::face_of<Face>(client);
    if constexpr ((std::is_same_v<Args, AnswerHere> || ...)) {
      return call_forms::invoke(face, method, call_forms::given(args, answer)...);
    } else {
      return call_forms::invoke(face, method, std::move(args)..., std::move(answer));
    }
  };
  if constexpr (admission == Admission::Always) return begin<Answer>(std::move(site), std::move(start), std::move(done));
  return begin_in_line<Answer>(std::move(site), deadline, std::move(start), std::move(done));
}

// Blocks until `(self.*async)(args..., callback)` is answered.
template <typename Self, typename Async, typename... Args>
auto wait_by(CallRunner& host, Self& self, Async async, Args&&... args) {
  using Answer = decltype(call_detail::answer_of(async));
  return wait_for_async<Answer>(host, call_forms::timeout_in(args...), [&](absl::AnyInvocable<void(Answer)> done) {
    return (self.*async)(std::forward<Args>(args)..., std::move(done));
  });
}

}  // namespace coordkit
