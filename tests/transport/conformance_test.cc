// Both transports of the box run the suite every transport must pass.
#include "coordkit/testing/transport_suite.h"
#include "coordkit/transport/loopback_transport.h"
#include "coordkit/transport/tcp_transport.h"

namespace coordkit::testing {
namespace {

class LoopbackWorld : public TransportWorld {
 public:
  std::unique_ptr<Transport> make(ReplicaId) override { return std::make_unique<LoopbackTransport>(hub_); }
  std::vector<Peer> peers() const override { return {{ReplicaId(1), ""}, {ReplicaId(2), ""}, {ReplicaId(3), ""}}; }

 private:
  LoopbackHub hub_;
};

class TcpWorld : public TransportWorld {
 public:
  TcpWorld() {
    for (uint64_t id = 1; id <= 3; ++id) {
      auto transport = std::make_unique<TcpTransport>(TcpOptions{.listen = "127.0.0.1:0"});
      EXPECT_TRUE(transport->bind().ok());
      ports_[ReplicaId(id)] = transport->port();
      first_[ReplicaId(id)] = std::move(transport);
    }
  }
  std::unique_ptr<Transport> make(ReplicaId self) override {
    if (first_[self]) return std::move(first_[self]);
    return std::make_unique<TcpTransport>(TcpOptions{.listen = address(self)});
  }
  std::vector<Peer> peers() const override {
    std::vector<Peer> peers;
    for (uint64_t id = 1; id <= 3; ++id) peers.push_back({ReplicaId(id), address(ReplicaId(id))});
    return peers;
  }

 private:
  std::string address(ReplicaId id) const { return "127.0.0.1:" + std::to_string(ports_.at(id)); }
  std::map<ReplicaId, uint16_t> ports_;
  std::map<ReplicaId, std::unique_ptr<TcpTransport>> first_;
};

INSTANTIATE_TEST_SUITE_P(Box, TransportSuite,
                         ::testing::Values(TransportUnderTest{"Loopback", [] { return std::make_unique<LoopbackWorld>(); }},
                                           TransportUnderTest{"Tcp", [] { return std::make_unique<TcpWorld>(); }}),
                         transport_name);

}  // namespace
}  // namespace coordkit::testing
