// A replica's turns on an executor of Boost.Asio: Parts::executor made of an io_context, a thread_pool, or a strand of either.
//
//   options.parts.executor = coordkit::asio_executor(io.get_executor());
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

#include "coordkit/executor.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// What it has not run when its context is destroyed never runs: destroy replicas before that.
inline std::shared_ptr<Executor> asio_executor(boost::asio::any_io_executor executor) {
  class Asio final : public Executor {
   public:
    explicit Asio(boost::asio::any_io_executor where) : executor_(std::move(where)) {}
    void post(Task task) override { boost::asio::post(executor_, std::move(task)); }
    void post_after(Duration delay, Task task) override {
      auto timer = std::make_shared<boost::asio::steady_timer>(executor_, delay);
      timer->async_wait([timer, task = std::move(task)](const boost::system::error_code& error) mutable {
        if (!error) std::move(task)();
      });
    }

   private:
    const boost::asio::any_io_executor executor_;
  };
  return std::make_shared<Asio>(std::move(executor));
}

}  // namespace coordkit
