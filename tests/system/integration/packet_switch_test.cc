// The network itself: what the other tests of this folder rely on, shown with plain datagrams.
#include "tests/system/integration/packet_switch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include "tests/system/integration/network_host.h"

namespace coordkit::testkit {
namespace {

constexpr uint16_t kPort = 7500;
constexpr size_t kHeaders = 28;  // of IPv4 and UDP

class PacketSwitchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      for (const int number : {1, 2}) hosts_.push_back(std::make_unique<NetworkHost>(number));
    } catch (const std::system_error& error) {
      GTEST_SKIP() << "hosts as network namespaces are not to be had here: " << error.what();
    }
    wires_.emplace(std::vector<int>{hosts_[0]->packets(), hosts_[1]->packets()}, 1);
    for (const int number : {1, 2}) sockets_.push_back(open_socket(number));
  }

  support::Descriptor open_socket(int number) {
    const NetworkHost::Inside there(*hosts_[static_cast<size_t>(number - 1)]);
    support::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = address_of(number);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << std::strerror(errno);
    return socket;
  }
  static sockaddr_in address_of(int number) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(kPort);
    ::inet_pton(AF_INET, NetworkHost::ip(number).c_str(), &address.sin_addr);
    return address;
  }
  void send(int from, int to, size_t bytes, char mark) {
    const std::string body(bytes, mark);
    const sockaddr_in address = address_of(to);
    ASSERT_EQ(::sendto(sockets_[static_cast<size_t>(from - 1)].get(), body.data(), body.size(), 0,
                       reinterpret_cast<const sockaddr*>(&address), sizeof address),
              static_cast<ssize_t>(bytes));
  }
  // The first byte of the next datagram: for a test that sends one that certainly comes last.
  char next_of(int number) {
    pollfd readable{sockets_[static_cast<size_t>(number - 1)].get(), POLLIN, 0};
    if (::poll(&readable, 1, 60'000) != 1) return 0;  // only a hang takes that long
    char bytes[2048];
    return ::recv(readable.fd, bytes, sizeof bytes, 0) > 0 ? bytes[0] : '\0';
  }
  void wait_until_seen(int from, int to, uint64_t packets) {
    while (wires_->counts(from, to).carried + wires_->counts(from, to).lost < packets) ::poll(nullptr, 0, 1);
  }

  std::vector<std::unique_ptr<NetworkHost>> hosts_;
  std::optional<PacketSwitch> wires_;
  std::vector<support::Descriptor> sockets_;
};

TEST_F(PacketSwitchTest, ACutWorksOneWayAndEndsWhenItIsMended) {
  wires_->set(1, 2, {.cut = true});
  send(1, 2, 100, 'a');
  wait_until_seen(1, 2, 1);
  send(2, 1, 100, 'b');
  EXPECT_EQ(next_of(1), 'b');
  wires_->set(1, 2, {});
  send(1, 2, 100, 'c');
  EXPECT_EQ(next_of(2), 'c');
  EXPECT_EQ(wires_->counts(1, 2).lost, 1U);
}

TEST_F(PacketSwitchTest, AHoleTakesWhatIsLargerAndNothingElse) {
  wires_->set(1, 2, {.packet_bytes_max = 500});
  send(1, 2, 500 - kHeaders + 1, 'a');
  send(1, 2, 500 - kHeaders, 'b');
  EXPECT_EQ(next_of(2), 'b');
  EXPECT_EQ(wires_->counts(1, 2).lost, 1U);
}

TEST_F(PacketSwitchTest, LossTakesAboutItsShare) {
  wires_->set(1, 2, {.loss = 0.2});
  for (int i = 0; i < 1000; ++i) {
    send(1, 2, 10, 'a');
    wait_until_seen(1, 2, static_cast<uint64_t>(i) + 1);
  }
  EXPECT_GT(wires_->counts(1, 2).lost, 120U);
  EXPECT_LT(wires_->counts(1, 2).lost, 280U);
}

TEST_F(PacketSwitchTest, ADelayedPacketIsPassedByALaterOneOfAnotherWayOnly) {
  wires_->set(1, 2, {.delay = std::chrono::milliseconds(50)});
  send(1, 2, 10, 'a');
  send(1, 2, 10, 'b');
  wait_until_seen(1, 2, 2);
  send(2, 1, 10, 'c');
  EXPECT_EQ(next_of(1), 'c');
  EXPECT_EQ(next_of(2), 'a');
  EXPECT_EQ(next_of(2), 'b');
}

TEST_F(PacketSwitchTest, ANarrowWayCarriesWhatItsQueueTakesAndLosesTheRest) {
  wires_->set(1, 2, {.bits_per_second = 80'000, .queue_bytes_max = 5'000});
  for (int i = 0; i < 50; ++i) send(1, 2, 1000 - kHeaders, 'a');
  wait_until_seen(1, 2, 50);
  EXPECT_GE(wires_->counts(1, 2).carried, 6U);
  EXPECT_GT(wires_->counts(1, 2).lost, 0U);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(next_of(2), 'a');
}

}  // namespace
}  // namespace coordkit::testkit
