// One asynchronous operation of asio.h and its place in the execution context that runs its
// handler. For coordkit's own headers.
//
// The answer of a call comes on the engine's thread, at any time, and the context may be destroyed
// at any time. So each context keeps a list of its operations, as it does for Asio's own objects.
// An operation leaves the list when its handler is called, on a thread of the context, or when the
// context is destroyed. The operation's mutex decides which of the two happens. A thread that posts
// an answer holds it, so the end of the context waits for that thread. Later answers find the
// operation abandoned.
#pragma once

// clang-format off
#include "coordkit/asio/asio_boost.h"  // before any header of Boost: it says which Boost is needed
// clang-format on

#include <atomic>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {
namespace asio_detail {

using Cancel = boost::asio::cancellation_type;
inline constexpr Cancel kWithoutEffect = Cancel::terminal | Cancel::partial | Cancel::total;
inline constexpr Cancel kMayTakeEffect = Cancel::terminal | Cancel::partial;

// An operation that has not completed, as the context of its handler knows it.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void abandon() = 0;  // destroys the handler without calling it

 private:
  friend class PendingOperations;
  std::shared_ptr<Pending> self_ = nullptr;  // while it is in the list of a context
  Pending *before_ = nullptr, *after_ = nullptr;
};

// The operations whose handlers one execution context runs. They end with the context as those of
// Asio's own objects do. An operation that has not completed when the context is destroyed never
// completes. Its handler is destroyed first, and nothing touches the context later.
class PendingOperations final : public boost::asio::execution_context::service {
 public:
  inline static boost::asio::execution_context::id id;

  explicit PendingOperations(boost::asio::execution_context& context) : service(context) {}
  // If its context's services had been shut down when it was made.
  ~PendingOperations() override { shutdown(); }

  // False: the context is being destroyed.
  bool add(std::shared_ptr<Pending> one) {
    const std::lock_guard lock(mutex_);
    if (over_) return false;
    one->after_ = first_;
    if (first_ != nullptr) first_->before_ = one.get();
    first_ = one.get();
    first_->self_ = std::move(one);
    return true;
  }
  void remove(Pending& one) {
    std::shared_ptr<Pending> removed;
    const std::lock_guard lock(mutex_);
    if (one.self_) removed = unlink(one);
  }

 private:
  void shutdown() noexcept override {
    std::unique_lock lock(mutex_);
    over_ = true;
    while (first_ != nullptr) {
      std::shared_ptr<Pending> one = unlink(*first_);
      lock.unlock();
      one->abandon();
      one.reset();
      lock.lock();
    }
  }
  std::shared_ptr<Pending> unlink(Pending& one) {
    (one.before_ != nullptr ? one.before_->after_ : first_) = one.after_;
    if (one.after_ != nullptr) one.after_->before_ = one.before_;
    return std::move(one.self_);
  }

  std::mutex mutex_;
  Pending* first_ = nullptr;
  bool over_ = false;
};

// Null: this executor belongs to no context of Asio's.
template <typename Executor>
boost::asio::execution_context* context_of(const Executor& executor) {
  if constexpr (boost::asio::can_query<const Executor&, boost::asio::execution::context_t>::value) {
    using Context = decltype(boost::asio::query(executor, boost::asio::execution::context));
    if constexpr (std::is_convertible_v<Context, boost::asio::execution_context&>) {
      return std::addressof(
          static_cast<boost::asio::execution_context&>(boost::asio::query(executor, boost::asio::execution::context)));
    }
  } else if constexpr (requires { static_cast<boost::asio::execution_context&>(executor.context()); }) {
    return std::addressof(static_cast<boost::asio::execution_context&>(executor.context()));
  }
  return nullptr;
}

template <typename Answer, typename Handler>
class Operation final : public Pending, public std::enable_shared_from_this<Operation<Answer, Handler>> {
 public:
  using Executor = boost::asio::associated_executor_t<Handler, boost::asio::system_executor>;

  explicit Operation(Handler handler) : handler_(std::move(handler)) {
    work_.emplace(boost::asio::get_associated_executor(*handler_, boost::asio::system_executor()));
  }

  // Sets the slot before the call begins. Afterwards the slot belongs to the handler's executor,
  // where the operation's end may already run.
  template <typename Start>
  void run(Start start, Cancel types) {
    if (!join()) return abandon();
    auto call = std::make_shared<std::invoke_result_t<Start, absl::AnyInvocable<void(Answer)>>>();
    if (auto slot = boost::asio::get_associated_cancellation_slot(*handler_); slot.is_connected()) {
      slot.assign([call, types](Cancel type) {
        if ((type & types) != Cancel::none) call->cancel();
      });
    }
    cancel_ = [call] { call->cancel(); };
    beginning_ = std::this_thread::get_id();
    try {
      *call = start([self = this->shared_from_this()](Answer answer) { self->end(std::move(answer)); });
    } catch (...) {
      if (operations_ != nullptr) operations_->remove(*this);
      throw;
    }
    beginning_ = std::thread::id();
  }

  // The call continues until it ends, and its answer is then dropped.
  void abandon() override {
    std::optional<Handler> handler;
    std::optional<boost::asio::executor_work_guard<Executor>> work;
    absl::AnyInvocable<void()> cancel;
    {
      const std::lock_guard lock(mutex_);  // waits for a thread that is inside post()
      if (!handler_) return;
      take(handler, work);
      cancel = std::exchange(cancel_, nullptr);
    }
    if (cancel) cancel();
  }

 private:
  static constexpr bool kBare = std::is_same_v<Executor, boost::asio::system_executor>;

  bool join() {
    if constexpr (!kBare) {
      if (auto* const context = context_of(work_->get_executor()); context != nullptr) {
        operations_ = &boost::asio::use_service<PendingOperations>(*context);
        return operations_->add(this->shared_from_this());
      }
    }
    return true;
  }

  // Never runs inside the call that began it.
  void end(Answer answer) {
    if (kBare && beginning_ != std::this_thread::get_id()) return complete(std::move(answer));
    const std::lock_guard lock(mutex_);
    if (!handler_) return;  // abandoned: there may be no context any more
    boost::asio::post(work_->get_executor(), [self = this->shared_from_this(), answer = std::move(answer)]() mutable {
      self->complete(std::move(answer));
    });
  }

  // No reference to the executor is left here when the handler begins: another thread may destroy
  // this operation later. The lock waits for a thread that is still inside post(). The handler may
  // be the last thing that its context runs, and the context may be destroyed right after it.
  void complete(Answer answer) {
    std::optional<Handler> handler;
    {
      std::optional<boost::asio::executor_work_guard<Executor>> work;
      absl::AnyInvocable<void()> cancel;
      const std::lock_guard lock(mutex_);
      if (!handler_) return;
      if (auto slot = boost::asio::get_associated_cancellation_slot(*handler_); slot.is_connected()) slot.clear();
      take(handler, work);
      cancel = std::exchange(cancel_, nullptr);
    }
    if (operations_ != nullptr) operations_->remove(*this);
    std::move (*handler)(std::move(answer));
  }

  // Constructed, never assigned: an any_completion_handler cannot be.
  void take(std::optional<Handler>& handler, std::optional<boost::asio::executor_work_guard<Executor>>& work) {
    handler.emplace(*std::move(handler_));
    handler_.reset();
    work.emplace(*std::move(work_));
    work_.reset();
  }

  std::recursive_mutex mutex_;      // guards the next three; an executor may run a posted task at
                                    // once
  std::optional<Handler> handler_;  // none: completed, or abandoned
  std::optional<boost::asio::executor_work_guard<Executor>> work_;
  absl::AnyInvocable<void()> cancel_;
  PendingOperations* operations_ = nullptr;   // in the handler's context, which outlives the
                                              // handler
  std::atomic<std::thread::id> beginning_{};  // the thread that is inside the call, at this moment;
                                              // elsewhere it is never equal
};

// `start(done)` begins the call and returns its AsyncCall, or another object that has cancel().
template <typename Answer, typename Start, typename Token>
auto initiate(Start start, Cancel types, Token&& token) {
  return boost::asio::async_initiate<Token, void(Answer)>(
      [types](auto handler, Start begin) {
        using Handler = std::decay_t<decltype(handler)>;
        std::make_shared<Operation<Answer, Handler>>(std::move(handler))->run(std::move(begin), types);
      },
      token, std::move(start));
}

}  // namespace asio_detail
}  // namespace coordkit
