// Door 1 for programs built on Boost.Asio: every call as an asynchronous operation. An operation
// takes any completion token: a callback, use_future, use_awaitable, a deferred operation. Without
// a token it is awaitable. This header and the others named asio_* are the only public headers that
// name Boost. Link coordkit::asio.
//
//   absl::StatusOr<Grant> grant = co_await async_acquire(session, "jobs/7", {.timeout = 2s});
//
// Completion: an operation completes with one argument, an absl::Status or absl::StatusOr, on the
// handler's associated executor. Until then the operation counts as outstanding work there. A
// handler without an associated executor (a bare callback, use_future) runs on the engine's thread,
// as with the *_async functions. asio_tokens.h gives error codes or exceptions instead, and says
// how to race an operation against a timer.
// Cancellation: through the handler's slot. Acquires and reads take every type of cancellation. An
// operation that may still take effect takes terminal and partial cancellation. call.h says how a
// cancelled operation ends. It always ends.
// Options: they are small structs that need no destruction, and strings are separate parameters.
// The reason is that g++ 12 destroys a temporary in the operand of co_await twice.
// Lifetime: the service must outlive the start of an operation. It need not outlive its end:
// close() ends the operation. An execution context and a service may be destroyed in any order. An
// operation counts as work of the context that runs its handler, and ends with that context as the
// operations of Asio's own objects do. Its handler is then destroyed without being called, its call
// is cancelled, and anything it would have been granted is released. Once the handler has been
// called, coordkit does not touch the context.
// Threads: Asio's rules for the handler's executor apply.
// Example: examples/17_coroutines.
#pragma once

// clang-format off
#include "coordkit/asio/asio_operation.h"  // before any header of Boost: it says which Boost is needed
// clang-format on

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coordkit/asio/asio_tokens.h"
#include "coordkit/export.h"
#include "coordkit/keys/kv.h"
#include "coordkit/service.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

// How an acquire waits, and how its lock is held. Strings are separate parameters.
struct LockTimes {
  Duration timeout = kForever;          // as in LockOptions
  Duration max_hold{};                  // as in LockOptions
  LockMode mode = LockMode::Exclusive;  // as in LockOptions
  bool reentrant = false;               // as in LockOptions
  Duration delay{};                     // as in LockOptions
  bool no_deadlock_check = false;       // as in LockOptions
  bool sticky = false;                  // as in LockOptions

  // LockOptions of these fields and two strings.
  LockOptions options(std::string owner, std::string value) const {
    LockOptions out{.timeout = timeout, .owner = std::move(owner), .value = std::move(value), .mode = mode};
    out.reentrant = reentrant;
    out.delay = delay;
    out.no_deadlock_check = no_deadlock_check;
    out.max_hold = max_hold;
    out.sticky = sticky;
    return out;
  }
};
// The times of async_open_session().
struct SessionTimes {
  Duration ttl = std::chrono::seconds(5);       // as in SessionOptions
  Duration timeout = std::chrono::seconds(10);  // as in SessionOptions
  Duration give_up{};                           // as in SessionOptions
};
// The options of async_resume_session().
struct ResumeTimes {
  Duration timeout = std::chrono::seconds(10);  // as in ResumeSessionOptions
  Duration give_up{};                           // as in ResumeSessionOptions
  bool previous_is_gone = false;                // as in ResumeSessionOptions
};
// The timeout of the other operations.
struct CallTimes {
  Duration timeout = std::chrono::seconds(10);  // no answer by then: CallTimeout
};
static_assert(std::is_trivially_destructible_v<LockTimes> && std::is_trivially_destructible_v<SessionTimes> &&
              std::is_trivially_destructible_v<ResumeTimes> && std::is_trivially_destructible_v<CallTimes>);

namespace asio_detail {

// The operation `handle.Method(args..., done)`. A handle is copied into it, or `handle` points to
// one that outlives the start.
template <auto Method, typename Token, typename Handle, typename... Args>
auto call(Cancel types, std::remove_reference_t<Token>& token, Handle handle, Args... args) {
  using Answer = decltype(call_detail::answer_of(Method));
  return initiate<Answer>(
      [handle = std::move(handle), ... args = std::move(args)](absl::AnyInvocable<void(Answer)> done) mutable {
        return std::invoke(Method, handle, std::move(args)..., std::move(done));
      },
      types, std::forward<Token>(token));
}
// An operation that is cancelled without effect.
template <auto Method, typename Token, typename... Args>
auto without_effect(std::remove_reference_t<Token>& token, Args... args) {
  return call<Method, Token>(kWithoutEffect, token, std::move(args)...);
}
// An operation that may still take effect when it is cancelled.
template <auto Method, typename Token, typename... Args>
auto may_take_effect(std::remove_reference_t<Token>& token, Args... args) {
  return call<Method, Token>(kMayTakeEffect, token, std::move(args)...);
}

// For a token in a position where options could be.
template <typename Token, typename Options>
using UnlessOptions = std::enable_if_t<!std::is_convertible_v<Token, Options>>;

}  // namespace asio_detail

// ---- the replica

// Service::wait_ready() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_wait_ready(const Service& service, Duration timeout, Token&& token = Token()) {
  return asio_detail::without_effect<&Service::wait_ready_async, Token>(token, &service, timeout);
}

// Service::health_async() as an operation. Completes with `absl::StatusOr<Health>`.
template <typename Token = DefaultToken>
auto async_health(const Service& service, Token&& token = Token()) {
  return asio_detail::without_effect<&Service::health_async, Token>(token, &service);
}

// Ends all other operations, and then this one. The replica may be destroyed afterwards on any
// thread, and also during the call.
template <typename Token = DefaultToken>
auto async_close(Service& service, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Service::close_async, Token>(token, &service);
}

// ---- sessions

// Service::open_session() as an operation. Completes with `absl::StatusOr<Session>`.
template <typename Token = DefaultToken>
auto async_open_session(Service& service, std::string metadata = {}, SessionTimes times = {}, Token&& token = Token()) {
  return asio_detail::initiate<absl::StatusOr<Session>>(
      [&service, metadata = std::move(metadata), times](Callback<Session> done) mutable {
        SessionOptions options{.ttl = times.ttl, .metadata = std::move(metadata), .timeout = times.timeout};
        options.give_up = times.give_up;
        return service.open_session_async(std::move(options), std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

// Service::resume_session() as an operation. Completes with `absl::StatusOr<Resumed>`.
template <typename Token = DefaultToken>
auto async_resume_session(Service& service, SessionId session, std::string secret, ResumeTimes times = {},
                          Token&& token = Token()) {
  return asio_detail::initiate<absl::StatusOr<Resumed>>(
      [&service, session, secret = std::move(secret), times](Callback<Resumed> done) mutable {
        ResumeSessionOptions options{.timeout = times.timeout, .give_up = times.give_up};
        options.previous_is_gone = times.previous_is_gone;
        return service.resume_session_async(session, std::move(secret), std::move(options), std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

// Session::close() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_close(Session session, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Session::close_async, Token>(token, std::move(session));
}

// Service::kill_session() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_kill_session(Service& service, SessionId session, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Service::kill_session_async, Token>(token, &service, session, times.timeout);
}

// Service::force_release() as an operation. Completes with `absl::StatusOr<SessionId>`.
template <typename Token = DefaultToken>
auto async_force_release(Service& service, std::string name, coordkit::Token hold, CallTimes times = {},
                         Token&& token = Token()) {
  return asio_detail::may_take_effect<&Service::force_release_async, Token>(token, &service, std::move(name), hold,
                                                                            times.timeout);
}

// Service::clear_delay() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_clear_delay(Service& service, std::string name, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Service::clear_delay_async, Token>(token, &service, std::move(name), times.timeout);
}

// ---- locks

// Session::acquire() as an operation. Completes with `absl::StatusOr<Grant>`. An empty `owner` is
// a separate owner.
template <typename Token = DefaultToken>
auto async_acquire(Session session, std::string name, std::string owner, std::string value, LockTimes times = {},
                   Token&& token = Token()) {
  return asio_detail::without_effect<&Session::acquire_async, Token>(token, std::move(session), std::move(name),
                                                                     times.options(std::move(owner), std::move(value)));
}
// Session::acquire() without a value, by a separate owner.
template <typename Token = DefaultToken>
auto async_acquire(Session session, std::string name, LockTimes times = {}, Token&& token = Token()) {
  return async_acquire(std::move(session), std::move(name), std::string(), std::string(), times, std::forward<Token>(token));
}

// Session::acquire() without options, by a separate owner.
template <typename Token, typename = asio_detail::UnlessOptions<Token, LockTimes>>
auto async_acquire(Session session, std::string name, Token&& token) {
  return async_acquire(std::move(session), std::move(name), LockTimes(), std::forward<Token>(token));
}

// Acquires all of them or none.
template <typename Token = DefaultToken>
auto async_acquire_all(Session session, std::vector<NamedLock> locks, std::string owner = {}, LockTimes times = {},
                       Token&& token = Token()) {
  return asio_detail::without_effect<&Session::acquire_all_async, Token>(token, std::move(session), std::move(locks),
                                                                         times.options(std::move(owner), {}));
}

// The grant is invalid from this call on. It may be destroyed before the operation ends.
template <typename Token = DefaultToken>
auto async_release(Grant& grant, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Grant::release_async, Token>(token, &grant);
}

// Answers the grant in its new mode. This grant then holds nothing, and may be destroyed before the
// operation ends.
template <typename Token = DefaultToken>
auto async_downgrade(Grant& grant, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Grant::downgrade_async, Token>(token, &grant);
}
// Grant::upgrade() as an operation. Completes with `absl::StatusOr<Grant>`. As with
// async_downgrade(), `grant` then holds nothing.
template <typename Token = DefaultToken>
auto async_upgrade(Grant& grant, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Grant::upgrade_async, Token>(token, &grant);
}

// Grant::update_value() as an operation. Completes with an absl::Status.
template <typename Token = DefaultToken>
auto async_update_value(Grant& grant, std::string value, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Grant::update_value_async, Token>(token, &grant, std::move(value));
}

// Grant::check() as an operation. Completes with `absl::StatusOr<bool>`.
template <typename Token = DefaultToken>
auto async_check(const Grant& grant, Token&& token = Token()) {
  return asio_detail::without_effect<&Grant::check_async, Token>(token, &grant);
}

// ---- keys and own machines

// Service::put() as an operation. Completes with `absl::StatusOr<PutResult>`.
template <typename Token = DefaultToken>
auto async_put(Service& service, std::string key, std::string value, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Service::put_async, Token>(token, &service, std::move(key), std::move(value),
                                                                  ProposeOptions{.timeout = times.timeout});
}

// Service::get() as an operation. Completes with `absl::StatusOr<GetResult>`.
template <typename Token = DefaultToken>
auto async_get(Service& service, std::string key, ReadOptions read = {}, Token&& token = Token()) {
  return asio_detail::without_effect<&Service::get_async, Token>(token, &service, std::move(key), read);
}
// Service::get() without options: a linearizable read.
template <typename Token, typename = asio_detail::UnlessOptions<Token, ReadOptions>>
auto async_get(Service& service, std::string key, Token&& token) {
  return async_get(service, std::move(key), ReadOptions(), std::forward<Token>(token));
}

// The operation's description is copied. Give it a name first; do not create it in the operand of
// co_await.
template <typename Token = DefaultToken>
auto async_range(const Kv& kv, const RangeOperation& range, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::without_effect<&Kv::range_async, Token>(token, kv, range, QueryOptions{.timeout = times.timeout});
}

// Kv::commit() as an operation. Completes with `absl::StatusOr<TransactionResult>`. Give the
// transaction a name first, as with async_range().
template <typename Token = DefaultToken>
auto async_commit(const Kv& kv, const Transaction& transaction, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Kv::commit_async, Token>(token, kv, transaction,
                                                                ProposeOptions{.timeout = times.timeout}, ReadOptions());
}

// Kv::erase() as an operation. Completes with `absl::StatusOr<EraseResult>`. Give the description
// a name first, as with async_range().
template <typename Token = DefaultToken>
auto async_erase(const Kv& kv, const DeleteOperation& erase, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Kv::erase_async, Token>(token, kv, erase, ProposeOptions{.timeout = times.timeout});
}

// Service::propose() as an operation. Completes with `absl::StatusOr<ProposeResult>`.
template <typename Token = DefaultToken>
auto async_propose(Service& service, MachineId machine, std::string command, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::may_take_effect<&Service::propose_async, Token>(token, &service, machine, std::move(command),
                                                                      ProposeOptions{.timeout = times.timeout});
}

// Service::query() as an operation, linearizable. Completes with `absl::StatusOr<QueryResult>`.
template <typename Token = DefaultToken>
auto async_query(Service& service, MachineId machine, std::string question, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::without_effect<&Service::query_async, Token>(token, &service, machine, std::move(question),
                                                                   QueryOptions{.timeout = times.timeout});
}

}  // namespace coordkit
