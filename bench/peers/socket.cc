#include "bench/peers/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kListenLimit = 60s;

std::system_error last_error(const std::string& what) { return {errno, std::generic_category(), what}; }

sockaddr_in place_of(const std::string& address) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.sin_port = htons(static_cast<uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
  return place;
}

support::Descriptor new_socket() {
  support::Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) throw last_error("socket");
  return made;
}

support::Descriptor without_delay(support::Descriptor connection) {
  const int yes = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return connection;
}

}  // namespace

support::Descriptor accept_at(const std::string& address) {
  const support::Descriptor listener = new_socket();
  const int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in place = place_of(address);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 || listen(listener.get(), 1) != 0) {
    throw last_error(address);
  }
  support::Descriptor accepted(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (accepted.get() < 0) throw last_error(address);
  return without_delay(std::move(accepted));
}

support::Descriptor connect_to(const std::string& address) {
  const sockaddr_in place = place_of(address);
  const support::Deadline deadline = support::in(kListenLimit);
  while (true) {
    support::Descriptor made = new_socket();
    if (connect(made.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0)
      return without_delay(std::move(made));
    if (errno != ECONNREFUSED || std::chrono::steady_clock::now() > deadline) throw last_error(address);
    std::this_thread::sleep_for(10ms);
  }
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) throw last_error("send");
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

size_t receive_some(int socket, std::span<char> into) {
  while (true) {
    const ssize_t got = recv(socket, into.data(), into.size(), 0);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno == ECONNRESET) return 0;
    if (errno != EINTR) throw last_error("recv");
  }
}

}  // namespace coordkit::bench
