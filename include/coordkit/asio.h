// Door 1 for programs built on Boost.Asio: every call as an asynchronous operation with any completion token - a callback,
// use_future, use_awaitable, a deferred operation; without a token it is awaitable. With the others that are called asio_* the
// only public headers that name Boost; link coordkit::asio. Example: examples/17_coroutines.
//
//   absl::StatusOr<Grant> grant = co_await async_acquire(session, "jobs/7", {.timeout = 2s});
//
// Completion: one argument, an absl::Status or absl::StatusOr, on the handler's associated executor, with outstanding work
// counted there meanwhile. Without one (a bare callback, use_future) on the engine's thread, as the *_async functions. Error
// codes or exceptions instead, and how to race an operation against a timer: asio_tokens.h.
// Cancellation: through the handler's slot. Acquires and reads take every type; what may still take effect takes terminal and
// partial cancellation. How a cancelled operation ends: call.h. It always ends.
// Options are small structs that need no destruction, and strings are parameters of their own: g++ 12 destroys a temporary
// in the operand of co_await twice.
// Lifetime: the replica outlives the start of an operation, not its end: close() ends it. An execution context outlives the
// operations whose handlers it runs, which count as its work: once run() has returned because there is none left, or once the
// handler has been called, nothing of coordkit touches it. Threads: as Asio's rules say of the handler's executor.
#pragma once

// clang-format off
#include "coordkit/asio_boost.h"  // before any header of Boost: it says which Boost is needed
// clang-format on

#include <atomic>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "coordkit/asio_tokens.h"
#include "coordkit/export.h"
#include "coordkit/kv.h"
#include "coordkit/replica.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

// Each field as in the options of the same call without Asio.
struct LockTimes {
  Duration timeout = kForever;
  Duration max_hold{};
  LockMode mode = LockMode::Exclusive;
  bool reentrant = false;
  Duration delay{};
  bool no_deadlock_check = false;
  bool sticky = false;

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
struct SessionTimes {
  Duration ttl = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(10);
  Duration give_up{};
};
struct ResumeTimes {
  Duration timeout = std::chrono::seconds(10);
  Duration give_up{};
  bool previous_is_gone = false;
};
struct CallTimes {
  Duration timeout = std::chrono::seconds(10);
};
static_assert(std::is_trivially_destructible_v<LockTimes> && std::is_trivially_destructible_v<SessionTimes> &&
              std::is_trivially_destructible_v<ResumeTimes> && std::is_trivially_destructible_v<CallTimes>);

namespace asio_detail {

using Cancel = boost::asio::cancellation_type;
inline constexpr Cancel kWithoutEffect = Cancel::terminal | Cancel::partial | Cancel::total;
inline constexpr Cancel kMayTakeEffect = Cancel::terminal | Cancel::partial;

template <typename Answer, typename Handler>
class Operation : public std::enable_shared_from_this<Operation<Answer, Handler>> {
 public:
  using Executor = boost::asio::associated_executor_t<Handler, boost::asio::system_executor>;

  explicit Operation(Handler handler) : handler_(std::move(handler)) {
    work_.emplace(boost::asio::get_associated_executor(*handler_, boost::asio::system_executor()));
  }

  // The slot is set before the call begins: afterwards it belongs to the handler's executor, where the end may run already.
  template <typename Start>
  void run(Start start, Cancel types) {
    auto call = std::make_shared<std::invoke_result_t<Start, absl::AnyInvocable<void(Answer)>>>();
    if (auto slot = boost::asio::get_associated_cancellation_slot(*handler_); slot.is_connected()) {
      slot.assign([call, types](Cancel type) {
        if ((type & types) != Cancel::none) call->cancel();
      });
    }
    beginning_ = std::this_thread::get_id();
    *call = start([self = this->shared_from_this()](Answer answer) { self->end(std::move(answer)); });
    beginning_ = std::thread::id();
  }

 private:
  // Never inside of the call that began it.
  void end(Answer answer) {
    auto deliver = [self = this->shared_from_this(), answer = std::move(answer)]() mutable {
      self->wait_posted();
      self->complete(std::move(answer));
    };
    const bool bare = std::is_same_v<Executor, boost::asio::system_executor>;
    if (bare && beginning_ != std::this_thread::get_id()) {
      boost::asio::dispatch(work_->get_executor(), std::move(deliver));
    } else {
      posting_ = std::this_thread::get_id();
      boost::asio::post(work_->get_executor(), std::move(deliver));
      posting_ = std::thread::id();
    }
  }

  // A handler may be the last thing that its context runs, and the context gone right after it; a thread that is still inside
  // of post() would then touch what is no more. So the handler waits for the few instructions that such a thread has left.
  void wait_posted() const {
    for (auto there = posting_.load(); there != std::thread::id() && there != std::this_thread::get_id();
         there = posting_.load()) {
      std::this_thread::yield();
    }
  }

  // Nothing of the executor's is left here when the handler begins: whoever lets go of this operation last may do so later.
  void complete(Answer answer) {
    if (auto slot = boost::asio::get_associated_cancellation_slot(*handler_); slot.is_connected()) slot.clear();
    Handler handler(*std::move(handler_));  // constructed, never assigned: an any_completion_handler cannot be
    handler_.reset();
    work_.reset();
    std::move(handler)(std::move(answer));
  }

  std::optional<Handler> handler_;
  std::optional<boost::asio::executor_work_guard<Executor>> work_;
  std::atomic<std::thread::id> beginning_{};  // there, at this moment; elsewhere it is never equal
  std::atomic<std::thread::id> posting_{};    // inside of post(), at this moment
};

// `start(done)` begins the call and gives its AsyncCall, or something else that has cancel().
template <typename Answer, typename Start, typename Token>
auto initiate(Start start, Cancel types, Token&& token) {
  return boost::asio::async_initiate<Token, void(Answer)>(
      [types](auto handler, Start begin) {
        using Handler = std::decay_t<decltype(handler)>;
        std::make_shared<Operation<Answer, Handler>>(std::move(handler))->run(std::move(begin), types);
      },
      token, std::move(start));
}

// The operation `handle->method(args..., done)`. What `handle` points to, or holds, outlives the start.
template <typename Pointer, typename Method, typename Token, typename... Args>
auto call(Pointer handle, Method method, Cancel types, Token&& token, Args... args) {
  using Answer = decltype(call_detail::answer_of(method));
  return initiate<Answer>(
      [handle = std::move(handle), method, ... args = std::move(args)](absl::AnyInvocable<void(Answer)> done) mutable {
        return ((*handle).*method)(std::move(args)..., std::move(done));
      },
      types, std::forward<Token>(token));
}

// For a token that stands where options could.
template <typename Token, typename Options>
using UnlessOptions = std::enable_if_t<!std::is_convertible_v<Token, Options>>;

// A handle that is copied into the operation.
template <typename Handle>
struct Copied {
  Handle handle;
  Handle& operator*() { return handle; }
};
template <typename Handle>
Copied(Handle) -> Copied<Handle>;

}  // namespace asio_detail

// ---- sessions

template <typename Token = DefaultToken>
auto async_open_session(Replica& replica, std::string metadata = {}, SessionTimes times = {}, Token&& token = Token()) {
  return asio_detail::initiate<absl::StatusOr<Session>>(
      [&replica, metadata = std::move(metadata), times](Callback<Session> done) mutable {
        SessionOptions options{.ttl = times.ttl, .metadata = std::move(metadata), .timeout = times.timeout};
        options.give_up = times.give_up;
        return replica.open_session_async(std::move(options), std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token = DefaultToken>
auto async_resume_session(Replica& replica, SessionId session, std::string secret, ResumeTimes times = {},
                          Token&& token = Token()) {
  return asio_detail::initiate<absl::StatusOr<Resumed>>(
      [&replica, session, secret = std::move(secret), times](Callback<Resumed> done) mutable {
        ResumeSessionOptions options{.timeout = times.timeout, .give_up = times.give_up};
        options.previous_is_gone = times.previous_is_gone;
        return replica.resume_session_async(session, std::move(secret), std::move(options), std::move(done));
      },
      asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token = DefaultToken>
auto async_close(Session session, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(session)}, &Session::close_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token));
}

template <typename Token = DefaultToken>
auto async_kill_session(Replica& replica, SessionId session, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(&replica, &Replica::kill_session_async, asio_detail::kMayTakeEffect, std::forward<Token>(token),
                           session, times.timeout);
}

template <typename Token = DefaultToken>
auto async_force_release(Replica& replica, std::string name, coordkit::Token hold, CallTimes times = {},
                         Token&& token = Token()) {
  return asio_detail::call(&replica, &Replica::force_release_async, asio_detail::kMayTakeEffect, std::forward<Token>(token),
                           std::move(name), hold, times.timeout);
}

template <typename Token = DefaultToken>
auto async_clear_delay(Replica& replica, std::string name, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(&replica, &Replica::clear_delay_async, asio_detail::kMayTakeEffect, std::forward<Token>(token),
                           std::move(name), times.timeout);
}

// ---- locks

template <typename Token = DefaultToken>
auto async_acquire(Session session, std::string name, std::string owner, std::string value, LockTimes times = {},
                   Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(session)}, &Session::acquire_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), std::move(name), times.options(std::move(owner), std::move(value)));
}
template <typename Token = DefaultToken>
auto async_acquire(Session session, std::string name, LockTimes times = {}, Token&& token = Token()) {
  return async_acquire(std::move(session), std::move(name), std::string(), std::string(), times, std::forward<Token>(token));
}

template <typename Token, typename = asio_detail::UnlessOptions<Token, LockTimes>>
auto async_acquire(Session session, std::string name, Token&& token) {
  return async_acquire(std::move(session), std::move(name), LockTimes(), std::forward<Token>(token));
}

// All of them or none.
template <typename Token = DefaultToken>
auto async_acquire_all(Session session, std::vector<NamedLock> locks, std::string owner = {}, LockTimes times = {},
                       Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{std::move(session)}, &Session::acquire_all_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), std::move(locks), times.options(std::move(owner), {}));
}

// The grant is not valid from this call on; it may be destroyed before the operation ends.
template <typename Token = DefaultToken>
auto async_release(Grant& grant, Token&& token = Token()) {
  return asio_detail::call(&grant, &Grant::release_async, asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

// The grant in its new mode; this one then holds nothing, and may be destroyed before.
template <typename Token = DefaultToken>
auto async_downgrade(Grant& grant, Token&& token = Token()) {
  return asio_detail::call(&grant, &Grant::downgrade_async, asio_detail::kMayTakeEffect, std::forward<Token>(token));
}
template <typename Token = DefaultToken>
auto async_upgrade(Grant& grant, Token&& token = Token()) {
  return asio_detail::call(&grant, &Grant::upgrade_async, asio_detail::kMayTakeEffect, std::forward<Token>(token));
}

template <typename Token = DefaultToken>
auto async_update_value(Grant& grant, std::string value, Token&& token = Token()) {
  return asio_detail::call(&grant, &Grant::update_value_async, asio_detail::kMayTakeEffect, std::forward<Token>(token),
                           std::move(value));
}

template <typename Token = DefaultToken>
auto async_check(const Grant& grant, Token&& token = Token()) {
  return asio_detail::call(&grant, &Grant::check_async, asio_detail::kWithoutEffect, std::forward<Token>(token));
}

// ---- keys and own machines

template <typename Token = DefaultToken>
auto async_put(Replica& replica, std::string key, std::string value, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(&replica, &Replica::put_async, asio_detail::kMayTakeEffect, std::forward<Token>(token),
                           std::move(key), std::move(value), ProposeOptions{.timeout = times.timeout});
}

template <typename Token = DefaultToken>
auto async_get(Replica& replica, std::string key, ReadOptions read = {}, Token&& token = Token()) {
  return asio_detail::call(&replica, &Replica::get_async, asio_detail::kWithoutEffect, std::forward<Token>(token),
                           std::move(key), read);
}
template <typename Token, typename = asio_detail::UnlessOptions<Token, ReadOptions>>
auto async_get(Replica& replica, std::string key, Token&& token) {
  return async_get(replica, std::move(key), ReadOptions(), std::forward<Token>(token));
}

// What is done is copied; name it first, do not make it in the operand of co_await.
template <typename Token = DefaultToken>
auto async_range(const Kv& kv, const RangeOperation& range, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{Kv(kv)}, &Kv::range_async, asio_detail::kWithoutEffect,
                           std::forward<Token>(token), range, QueryOptions{.timeout = times.timeout});
}

template <typename Token = DefaultToken>
auto async_commit(const Kv& kv, const Transaction& transaction, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{Kv(kv)}, &Kv::commit_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), transaction, ProposeOptions{.timeout = times.timeout}, ReadOptions());
}

template <typename Token = DefaultToken>
auto async_erase(const Kv& kv, const DeleteOperation& erase, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(asio_detail::Copied{Kv(kv)}, &Kv::erase_async, asio_detail::kMayTakeEffect,
                           std::forward<Token>(token), erase, ProposeOptions{.timeout = times.timeout});
}

template <typename Token = DefaultToken>
auto async_propose(Replica& replica, MachineId machine, std::string command, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(&replica, &Replica::propose_async, asio_detail::kMayTakeEffect, std::forward<Token>(token), machine,
                           std::move(command), ProposeOptions{.timeout = times.timeout});
}

template <typename Token = DefaultToken>
auto async_query(Replica& replica, MachineId machine, std::string question, CallTimes times = {}, Token&& token = Token()) {
  return asio_detail::call(&replica, &Replica::query_async, asio_detail::kWithoutEffect, std::forward<Token>(token), machine,
                           std::move(question), QueryOptions{.timeout = times.timeout});
}

}  // namespace coordkit
