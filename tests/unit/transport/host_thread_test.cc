// A TcpTransport on the host's io_context: network and engine share one thread.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>

#include "coordkit/testing/recording_sink.h"
#include "transport/tcp/address.h"
#include "transport/tcp/tcp_transport_asio.h"

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

// A hundred rounds between two transports. The first listens at `listen`, and both are dialled at `host`.
void play_ping_pong(const std::string& listen, const std::string& host) {
  boost::asio::io_context io(1);
  testkit::RecordingSink sinks[2];
  const auto a = make_tcp_transport({.listen = listen}, io);
  const auto b = make_tcp_transport({.listen = host + ":0"}, io);
  ASSERT_TRUE(a->bind().ok() && b->bind().ok());
  const std::vector<Peer> peers = {{ReplicaId(1), host + ":" + std::to_string(a->port())},
                                   {ReplicaId(2), host + ":" + std::to_string(b->port())}};
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

bool has_ipv6() {
  boost::asio::io_context io(1);
  return make_tcp_transport({.listen = "[::1]:0"}, io)->bind().ok();
}

TEST(HostThreadTest, TwoTransportsPlayPingPongOnOneThread) { play_ping_pong("127.0.0.1:0", "127.0.0.1"); }

TEST(HostThreadTest, TwoTransportsPlayPingPongOverIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  play_ping_pong("[::1]:0", "[::1]");
}

TEST(HostThreadTest, AListenerAtEveryAddressIsReachedOverIpv4) { play_ping_pong(":0", "127.0.0.1"); }

TEST(HostThreadTest, AListenerAtEveryAddressIsReachedOverIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  play_ping_pong(":0", "[::1]");
}

// The last of its numbers could be the port or a part of the address, so both readings are refused.
TEST(AddressTest, AnIpv6AddressWithoutBracketsIsRefused) {
  for (const std::string address :
       {"::1:7400", "fd00::3:7400", "fd00:0:0:0:0:0:0:3:7400", "[::1:7400", "::1]:7400", ":::7400"}) {
    const auto split = tcp::split_address(address);
    ASSERT_EQ(split.status().code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_NE(split.status().message().find("brackets, for example [::1]:7400"), std::string_view::npos) << split.status();
  }
}

TEST(AddressTest, AnIpv6AddressStandsInBrackets) {
  const auto split = tcp::split_address("[fe80::3%eth0]:7400");
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->host, "fe80::3%eth0");
  EXPECT_EQ(split->port, "7400");
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
