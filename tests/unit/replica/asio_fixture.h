// One replica and an io_context that this thread runs.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <utility>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {

namespace asio = boost::asio;

class AsioTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  Replica& replica() { return cluster_[1]; }
  // Runs a coroutine to its end on this thread.
  template <typename Body>
  void run(Body body) {
    asio::co_spawn(io_, std::move(body), [](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    });
    io_.run();
    io_.restart();
  }

  Cluster cluster_{1};
  asio::io_context io_;
};

}  // namespace coordkit::testkit
