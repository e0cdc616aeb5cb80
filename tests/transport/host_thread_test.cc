// A TcpTransport on the host's io_context: network and engine share one thread.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "coordkit/testing/recording_sink.h"
#include "transport/tcp_transport_asio.h"

namespace coordkit {
namespace {

Hello hello_of(uint64_t id) {
  Hello hello;
  hello.cluster_name = "orders";
  hello.from = ReplicaId(id);
  hello.store = StoreId(id);
  hello.boot = BootCounter(1);
  return hello;
}

TEST(HostThreadTest, TwoTransportsPlayPingPongOnOneThread) {
  boost::asio::io_context io(1);
  testkit::RecordingSink sinks[2];
  const auto a = make_tcp_transport({.listen = "127.0.0.1:0"}, io);
  const auto b = make_tcp_transport({.listen = "127.0.0.1:0"}, io);
  ASSERT_TRUE(a->bind().ok() && b->bind().ok());
  const std::vector<Peer> peers = {{ReplicaId(1), "127.0.0.1:" + std::to_string(a->port())},
                                   {ReplicaId(2), "127.0.0.1:" + std::to_string(b->port())}};
  int rounds = 0;
  sinks[0].on_received = [&](ReplicaId, const std::string& body) {
    if (++rounds < 100) a->send(ReplicaId(2), {{Lane::Control, body}});
  };
  sinks[1].on_received = [&](ReplicaId, const std::string& body) { b->send(ReplicaId(1), {{Lane::Control, body}}); };
  ASSERT_TRUE(a->start(hello_of(1), peers, sinks[0]).ok());
  ASSERT_TRUE(b->start(hello_of(2), peers, sinks[1]).ok());
  a->send(ReplicaId(2), {{Lane::Control, "ball"}});
  while (rounds < 100) ASSERT_GT(io.run_one(), 0u);
  a->close();
  b->close();
  sinks[0].forbid();
  sinks[1].forbid();
  io.run();  // nothing keeps it alive, nothing is reported
  EXPECT_FALSE(sinks[0].violated() || sinks[1].violated());
}

TEST(HostThreadTest, MayBeClosedFromItsSink) {
  boost::asio::io_context io(1);
  testkit::RecordingSink sinks[2];
  const auto a = make_tcp_transport({.listen = "127.0.0.1:0"}, io);
  const auto b = make_tcp_transport({.listen = "127.0.0.1:0"}, io);
  ASSERT_TRUE(a->bind().ok() && b->bind().ok());
  const std::vector<Peer> peers = {{ReplicaId(1), "127.0.0.1:" + std::to_string(a->port())},
                                   {ReplicaId(2), "127.0.0.1:" + std::to_string(b->port())}};
  bool closed = false;
  sinks[1].on_received = [&](ReplicaId, const std::string&) {
    b->close();
    closed = true;
  };
  ASSERT_TRUE(a->start(hello_of(1), peers, sinks[0]).ok());
  ASSERT_TRUE(b->start(hello_of(2), peers, sinks[1]).ok());
  for (int i = 0; i < 10; ++i) a->send(ReplicaId(2), {{Lane::Control, std::to_string(i)}});
  while (!closed) ASSERT_GT(io.run_one(), 0u);
  EXPECT_EQ(sinks[1].all().size(), 1u);
  a->close();
  io.run();
  EXPECT_EQ(sinks[1].all().size(), 1u);
}

}  // namespace
}  // namespace coordkit
