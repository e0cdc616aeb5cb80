// Shared by the handles of semaphores, barriers and the like: the way from a Session or a Service to its client.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "coordkit/objects/observation.h"
#include "coordkit/service.h"
#include "coordkit/session.h"
#include "service/calls/call_forms.h"
#include "service/calls/subscription.h"
#include "service/calls/waiting.h"
#include "service/sessions/session_handle.h"

namespace coordkit {

class Host;

// Sees through the public handles, so that they need only one friend.
struct HandleAccess {
  static const Ref<SessionHandle>& handle(const Session& session) { return session.handle_; }
  static Session session(std::shared_ptr<CallRunner> host, SessionRef state, Phases phases) {
    return Session(make_ref<SessionHandle>(std::move(host), std::move(state), std::move(phases)));
  }
  static Grant grant(Session session, HoldRef hold) { return {std::move(session), std::move(hold)}; }
  static const HoldRef& hold(const Grant& grant) { return grant.hold_; }
  static const std::shared_ptr<Host>& host(const Service& service) { return service.host_; }
};

inline absl::Status handle_without_session() {
  return make_error(Reason::Closed, "this handle has no session: open one with Service::open_session");
}

inline LockWait wait_for_up_to(Duration timeout) {
  if (timeout == kForever) return LockWait::endless();
  return timeout > Duration::zero() ? LockWait::timed(timeout) : LockWait::none();
}

// Marks the session's position among the arguments of a call.
struct SessionHere {};
inline constexpr SessionHere kSession;

template <typename T>
T of_session(const SessionRef&, T argument) {
  return argument;
}
inline SessionRef of_session(const SessionRef& session, SessionHere) { return session; }

// As CallSite, for a call of this session.
struct SessionSite {
  SessionSite(const Session& of, const char* function = __builtin_FUNCTION())  // NOLINT: converts, so that it is known
      : session(of), call(function) {}
  const Session& session;
  const char* call;
};

// begin_by() on the replica of this session.
template <Admission admission = Admission::MayRefuse, typename Answer, typename Method, typename... Args>
AsyncCall begin_of(SessionSite site, absl::AnyInvocable<void(Answer)> done, Method method, Args... args) {
  const auto& handle = HandleAccess::handle(site.session);
  if (handle) {
    return begin_by<admission>({handle->shared_host(), site.call}, std::move(done), method,
                               of_session(handle->state(), std::move(args))...);
  }
  tell(std::move(done), Answer(handle_without_session()));
  return {};
}

// begin_of() for a call that ends a hold: it is invalid from here on, so that the end of its grant does not overtake the call.
template <typename Method, typename... Args>
AsyncCall begin_end_of(SessionSite site, const Grant& grant, DoneCallback done, Method method, Args... args) {
  const HoldRef& hold = HandleAccess::hold(grant);
  if (HandleAccess::handle(site.session) && hold) hold->invalidate();
  return begin_of<Admission::Always>(site, std::move(done), method, hold, std::move(args)...);
}

// wait_by() on the replica of this session.
template <typename Self, typename Async, typename... Args>
auto wait_of(const Session& session, Self& self, Async async, Args&&... args) {
  const auto& handle = HandleAccess::handle(session);
  using Answer = decltype(call_detail::answer_of(async));
  return handle ? wait_by(handle->host(), self, async, std::forward<Args>(args)...) : Answer(handle_without_session());
}

template <typename T>
using ObserveMethod = ObserverId (CoordinationCalls::*)(std::string name, Observer<T>, ObserveOptions);

class ObservationMaker {
 public:
  template <typename T>
  static Observation make(std::shared_ptr<CallRunner> host, ObserveMethod<T> method, std::string name, Observer<T> observer) {
    auto listener = std::make_shared<Listener<const T&>>(std::move(observer));
    auto id = std::make_shared<ObserverId>();  // known and used on the engine's thread only
    Observation made(
        std::make_unique<Subscription>(host, listener, [id](Client& client) { client.coordination().end_observation(*id); }));
    host->call([id, method, name = std::move(name), listener = std::move(listener)](Client& client) mutable {
      const auto tell = [listener = std::move(listener)](const T& seen) { listener->tell(seen); };
      *id = (client.coordination().*method)(std::move(name), tell, {});
    });
    return made;
  }
};

template <typename T>
Observation observe_of(const Session& session, ObserveMethod<T> method, std::string name, Observer<T> observer) {
  const auto& handle = HandleAccess::handle(session);
  if (!handle) return {};
  return ObservationMaker::make(handle->shared_host(), method, std::move(name), std::move(observer));
}

// Turns the hold of a call into the caller's Grant.
inline Callback<HoldRef> granting(Session session, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  return [session = std::move(session), done = std::move(done)](absl::StatusOr<HoldRef> hold) mutable {
    if (!hold.ok()) return tell(std::move(done), hold.status());
    tell(std::move(done), HandleAccess::grant(std::move(session), *std::move(hold)));
  };
}

}  // namespace coordkit
