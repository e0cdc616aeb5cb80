// Ports that the kernel picks for dialing sockets, and at which a replica is to listen (docs/faults.md, FLT_N18).
#include "transport/tcp/own_connection.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "tcp_fixture.h"
#include "transport/tcp/tcp_listener.h"

namespace coordkit {
namespace {

using std::chrono::seconds;
using tcp::Tcp;

class OwnConnectionTest : public TcpFixture {
 protected:
  static const Tcp::endpoint kAnyPort;

  absl::Status listen_at(uint16_t port) { return tcp::Listener(io_, seconds(1)).bind("127.0.0.1:" + std::to_string(port)); }

  tcp::asio::io_context io_;
};
const Tcp::endpoint OwnConnectionTest::kAnyPort(tcp::asio::ip::address_v4::loopback(), 0);

// The kernel does by chance what the bind does here.
// Covers: FLT_N18
TEST_F(OwnConnectionTest, AConnectionWithItselfIsResetAndItsPortIsFreeAtOnce) {
  tcp::Socket socket(io_.get_executor());
  socket.open(Tcp::v4());
  socket.bind(kAnyPort);
  const Tcp::endpoint own = socket.local_endpoint();
  socket.connect(own);
  ASSERT_EQ(socket.remote_endpoint(), own);

  EXPECT_TRUE(tcp::reset_own_connection(socket));

  EXPECT_FALSE(socket.is_open());
  EXPECT_EQ(listen_at(own.port()), absl::OkStatus());
}

TEST_F(OwnConnectionTest, AConnectionWithAnotherSocketStands) {
  const FakeListener other;
  tcp::Socket socket(io_.get_executor());
  socket.connect({kAnyPort.address(), other.port()});
  EXPECT_FALSE(tcp::reset_own_connection(socket));
  EXPECT_TRUE(socket.is_open());
}

TEST_F(OwnConnectionTest, ASocketThatIsNotConnectedStaysOpen) {
  tcp::Socket socket(io_.get_executor());
  socket.open(Tcp::v4());
  EXPECT_FALSE(tcp::reset_own_connection(socket));
  EXPECT_TRUE(socket.is_open());
}

// Covers: FLT_N18
TEST_F(OwnConnectionTest, AReplicaMayListenAtThePortFromWhichAnotherDials) {
  FakeListener peer;
  start_as(hello_of(1), {}, {{ReplicaId(2), "127.0.0.1:" + std::to_string(peer.port())}});
  FakePeer dialed = peer.accept();
  ASSERT_TRUE(dialed.read()) << "the hello";
  EXPECT_EQ(listen_at(dialed.port_of_other_end()), absl::OkStatus());
}

// The only port that the kernel has for a dial is the one that is dialed: in a network of this thread and those it starts.
class OnlyPortTest : public OwnConnectionTest {
 protected:
  static constexpr uint16_t kPort = 27'862;

  static std::string network_of_its_own() {
    if (::unshare(CLONE_NEWNET) != 0) return std::strerror(errno);
    const int any = ::socket(AF_INET, SOCK_DGRAM, 0);
    ifreq loopback{};
    std::strncpy(loopback.ifr_name, "lo", sizeof loopback.ifr_name - 1);
    loopback.ifr_flags = IFF_UP;
    const bool up = ::ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
    const std::string why = up ? "" : std::strerror(errno);
    ::close(any);
    return why;
  }
  // The kernel takes the lower one of two for a dial.
  static bool leave_no_other_port() {
    std::ofstream range("/proc/sys/net/ipv4/ip_local_port_range");
    range << kPort << " " << kPort + 1 << std::flush;
    return range.good();
  }
};

// Covers: FLT_N18
TEST_F(OnlyPortTest, ADialThatComesBackToItselfFailsAndThePeerMayListen) {
  std::string refused;
  std::thread([&] {
    refused = network_of_its_own();
    if (!refused.empty()) return;
    start_as(hello_of(1), {.redial_max = std::chrono::milliseconds(20)}, {});
    ASSERT_TRUE(leave_no_other_port());
    transport_->set_peers({{ReplicaId(2), "127.0.0.1:" + std::to_string(kPort)}});
    EXPECT_TRUE(wait_events(3, [](const TcpEvent& event) { return event.reason == CloseReason::DialFailed; }));
    EXPECT_EQ(listen_at(kPort), absl::OkStatus());
    EXPECT_EQ(transport_->counters().opened, 0U);
    transport_->close();
  }).join();
  if (!refused.empty()) GTEST_SKIP() << "this machine does not let a test have a network of its own: " << refused;
}

}  // namespace
}  // namespace coordkit
