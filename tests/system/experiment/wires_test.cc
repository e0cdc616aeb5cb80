// Wires carry both ways, until they are cut, and lead where they are told to.
#include "tools/experiment/wires.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "tools/support/loopback.h"

namespace coordkit::experiment {
namespace {

using support::Descriptor;

sockaddr_in address_of(const std::string& address) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
  result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return result;
}

Descriptor listening(const std::string& at) {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(at);
  const int yes = 1;
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  EXPECT_EQ(bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(made.get(), 8), 0);
  return made;
}

Descriptor dialed(const std::string& at) {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(at);
  EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return made;
}

Descriptor accepted(const Descriptor& listener) { return Descriptor(accept(listener.get(), nullptr, nullptr)); }

void say(const Descriptor& socket, const std::string& text) {
  EXPECT_EQ(send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

// Everything until it is so long or the connection ends.
std::string heard(const Descriptor& socket, size_t length) {
  std::string text;
  char bytes[65536];
  while (text.size() < length) {
    const ssize_t count = recv(socket.get(), bytes, std::min(sizeof bytes, length - text.size()), 0);
    if (count <= 0) break;
    text.append(bytes, static_cast<size_t>(count));
  }
  return text;
}

class WiresTest : public ::testing::Test {
 protected:
  const std::vector<std::string> addresses_ = support::free_loopback_addresses(2);
  Descriptor first_ = listening(addresses_[0]), second_ = listening(addresses_[1]);
  Wires wires_{2, 2};
};

TEST_F(WiresTest, TheyCarryBothWays) {
  wires_.lead(1, 2, addresses_[1]);
  const Descriptor near = dialed(wires_.door(1, 2)), far = accepted(second_);
  say(near, "there");
  EXPECT_EQ(heard(far, 5), "there");
  say(far, "back");
  EXPECT_EQ(heard(near, 4), "back");
}

TEST_F(WiresTest, MuchIsCarriedInOrder) {
  wires_.lead(1, 2, addresses_[1]);
  const Descriptor near = dialed(wires_.door(1, 2)), far = accepted(second_);
  std::string much;
  for (int i = 0; much.size() < (4 << 20); ++i) much += std::to_string(i) + " ";
  std::thread speaker([&] { say(near, much); });
  EXPECT_TRUE(heard(far, much.size()) == much);
  speaker.join();
}

TEST_F(WiresTest, ACutEndsOpenAndLaterConnections) {
  wires_.lead(1, 2, addresses_[1]);
  const Descriptor near = dialed(wires_.door(1, 2)), far = accepted(second_);
  say(near, "there");
  EXPECT_EQ(heard(far, 5), "there");
  wires_.lead(1, 2, {});
  EXPECT_EQ(heard(near, 1), "");
  EXPECT_EQ(heard(far, 1), "");
  EXPECT_EQ(heard(dialed(wires_.door(1, 2)), 1), "");
  EXPECT_EQ(wires_.connected(), 1u);
}

TEST_F(WiresTest, ADoorMayLeadElsewhereAndNoOtherDoorIsTouched) {
  wires_.lead(1, 2, addresses_[1]);
  wires_.lead(2, 1, addresses_[0]);
  const Descriptor other = dialed(wires_.door(2, 1)), others_end = accepted(first_);
  wires_.lead(1, 2, addresses_[0]);
  const Descriptor near = dialed(wires_.door(1, 2)), far = accepted(first_);
  say(near, "here");
  EXPECT_EQ(heard(far, 4), "here");
  say(other, "still");
  EXPECT_EQ(heard(others_end, 5), "still");
}

}  // namespace
}  // namespace coordkit::experiment
