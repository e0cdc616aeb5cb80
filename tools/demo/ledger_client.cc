#include "tools/demo/ledger_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace coordkit::demo {

LedgerClient::LedgerClient(int node, uint16_t port) : node_(node), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::system_error(errno, std::generic_category(), "the resource cannot be reached");
  }
  const int yes = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

std::optional<bool> LedgerClient::write_row(uint64_t token, uint64_t row) {
  const std::lock_guard lock(mutex_);
  const std::string request = std::to_string(node_) + " " + std::to_string(token) + " " + std::to_string(row) + "\n";
  if (send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return {};
  std::string answer;
  char byte = 0;
  while (recv(socket_.get(), &byte, 1, 0) == 1) {
    if (byte == '\n') return answer == "ok";
    answer += byte;
  }
  return {};
}

}  // namespace coordkit::demo
