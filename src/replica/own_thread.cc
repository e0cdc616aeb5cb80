#include "replica/own_thread.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

namespace coordkit {

void OwnThread::start() {
  thread_ = std::thread([this] {
    const auto keep_running = boost::asio::make_work_guard(io_);
    io_.run();
  });
}

void OwnThread::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

void OwnThread::post(Task task) { boost::asio::post(io_, std::move(task)); }

void OwnThread::post_after(Duration delay, Task task) {
  auto timer = std::make_shared<boost::asio::steady_timer>(io_, delay);
  timer->async_wait([timer, task = std::move(task)](const boost::system::error_code& error) mutable {
    if (!error) std::move(task)();
  });
}

}  // namespace coordkit
