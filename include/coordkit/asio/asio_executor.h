// Runs a replica's turns on an executor of Boost.Asio. Use it for Parts::executor with an
// io_context, a thread_pool, or a strand of either.
//
//   options.parts.executor = coordkit::asio_executor(io.get_executor());
//
// Blocking calls are refused (InCallback) on the only thread of the context: use the operations of
// asio.h there.
// Example: examples/22_one_thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "coordkit/export.h"
#include "coordkit/ports/executor.h"

namespace COORDKIT_EXPORT coordkit {

namespace asio_detail {

// Whether this thread is inside run() of the executor's context. Also false for an executor of
// another kind.
template <typename Kind>
bool runs_here(const Kind& executor) {
  if constexpr (requires { executor.get_inner_executor(); }) {
    return executor.running_in_this_thread() || runs_here(executor.get_inner_executor());
  } else if constexpr (requires { executor.running_in_this_thread(); }) {
    return executor.running_in_this_thread();
  } else if constexpr (requires { executor.template target<boost::asio::io_context::executor_type>(); }) {
    using Context = boost::asio::io_context::executor_type;
    if (const auto* context = executor.template target<Context>()) return runs_here(*context);
    if (const auto* strand = executor.template target<boost::asio::strand<Context>>()) return runs_here(*strand);
    using Any = boost::asio::strand<boost::asio::any_io_executor>;
    if (const auto* strand = executor.template target<Any>()) return runs_here(*strand);
  }
  return false;
}

}  // namespace asio_detail

// `threads`: how many threads run the context. With one, blocking calls on that thread are refused.
// With more, blocking calls are allowed, and end at their timeouts if all of these threads block.
// Tasks that the executor has not run when its context is destroyed never run: destroy replicas
// before that.
inline std::shared_ptr<Executor> asio_executor(boost::asio::any_io_executor executor, size_t threads = 1) {
  class Asio final : public Executor {
   public:
    Asio(boost::asio::any_io_executor where, size_t threads) : executor_(std::move(where)), threads_(threads) {}
    void post(Task task) override { boost::asio::post(executor_, std::move(task)); }
    void post_after(Duration delay, Task task) override {
      auto timer = std::make_shared<boost::asio::steady_timer>(executor_, delay);
      timer->async_wait([timer, task = std::move(task)](const boost::system::error_code& error) mutable {
        if (!error) std::move(task)();
      });
    }
    bool runs_in_this_thread() const override { return threads_ < 2 && asio_detail::runs_here(executor_); }

   private:
    const boost::asio::any_io_executor executor_;
    const size_t threads_;
  };
  return std::make_shared<Asio>(std::move(executor), threads);
}

}  // namespace coordkit
