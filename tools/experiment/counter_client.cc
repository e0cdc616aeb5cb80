#include "tools/experiment/counter_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace coordkit::experiment {

CounterClient::CounterClient(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::system_error(errno, std::generic_category(), "the counter cannot be reached");
  }
  const int yes = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

std::string CounterClient::ask(const std::string& request) {
  if (send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return {};
  std::string answer;
  char byte = 0;
  while (recv(socket_.get(), &byte, 1, 0) == 1 && byte != '\n') answer += byte;
  return answer;
}

std::optional<uint64_t> CounterClient::read(uint64_t token) {
  const std::string answer = ask("read " + std::to_string(token) + "\n");
  if (!answer.starts_with("value ")) return std::nullopt;
  return std::stoull(answer.substr(6));
}

bool CounterClient::write(uint64_t token, uint64_t base) {
  return ask("write " + std::to_string(token) + " " + std::to_string(base) + "\n") == "ok";
}

}  // namespace coordkit::experiment
