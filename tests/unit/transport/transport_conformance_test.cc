// The built-in transports run the suite every transport must pass.
#include "coordkit/testing/transport_suite.h"
#include "tests/unit/transport/worlds.h"

namespace coordkit::testkit {
namespace {

template <typename World>
TransportUnderTest in(const char* name) {
  return {name, [] { return std::make_unique<World>(); }};
}

INSTANTIATE_TEST_SUITE_P(Box, TransportSuite,
                         ::testing::Values(in<LoopbackWorld>("Loopback"), in<TcpWorld>("Tcp"),
                                           in<HostedTcpWorld>("TcpOnAHostsThread")),
                         transport_name);

}  // namespace
}  // namespace coordkit::testkit
