#include "tools/support/line_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace coordkit::support {
namespace {

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void send_at_once(int fd) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool send_line(int fd, std::string line) {
  line += '\n';
  return send(fd, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
}

}  // namespace

uint16_t LineServer::listen_on_loopback() {
  listener_ = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), plain, size) != 0 || listen(listener_.get(), 16) != 0) return 0;
  if (getsockname(listener_.get(), plain, &size) != 0) return 0;
  return ntohs(address.sin_port);
}

bool LineServer::serve_until_input() {
  while (true) {
    std::vector<pollfd> ready = {{STDIN_FILENO, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& [fd, connection] : connections_) ready.push_back({fd, POLLIN, 0});
    if (poll(ready.data(), ready.size(), -1) < 0) return false;
    if (ready[0].revents != 0) return true;
    for (size_t i = 2; i < ready.size(); ++i) {
      if (ready[i].revents != 0 && !serve(connections_.at(ready[i].fd))) connections_.erase(ready[i].fd);
    }
    if (ready[1].revents != 0) take_connection();
  }
}

void LineServer::take_connection() {
  Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int fd = socket.get();
  if (fd < 0) return;
  send_at_once(fd);
  connections_.emplace(fd, Connection{std::move(socket), {}});
}

bool LineServer::serve(Connection& connection) {
  char bytes[4096];
  const ssize_t count = recv(connection.socket.get(), bytes, sizeof bytes, 0);
  if (count <= 0) return false;
  connection.rest.append(bytes, static_cast<size_t>(count));
  for (size_t end = 0; (end = connection.rest.find('\n')) != std::string::npos; connection.rest.erase(0, end + 1)) {
    if (!send_line(connection.socket.get(), answer_(connection.rest.substr(0, end)))) return false;
  }
  return true;
}

LineClient::LineClient(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in address = loopback(port);
  if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::system_error(errno, std::generic_category(), "no process answers on port " + std::to_string(port));
  }
  send_at_once(socket_.get());
}

std::string LineClient::ask(const std::string& request) {
  if (!send_line(socket_.get(), request)) return {};
  std::string answer;
  char byte = 0;
  while (recv(socket_.get(), &byte, 1, 0) == 1) {
    if (byte == '\n') return answer;
    answer += byte;
  }
  return {};
}

}  // namespace coordkit::support
