// The executor of a replica that was given none: one thread, which is the network's as well.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "coordkit/executor.h"

namespace coordkit {

class OwnThread final : public Executor {
 public:
  ~OwnThread() override { stop(); }

  boost::asio::io_context& io() { return io_; }
  void start();
  void stop();  // what has not run by now never does. Idempotent

  void post(Task task) override;
  void post_after(Duration delay, Task task) override;

 private:
  boost::asio::io_context io_{1};
  std::thread thread_;
};

}  // namespace coordkit
