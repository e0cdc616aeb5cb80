// What the lock protects: a table of rows that any holder may write, over TCP on loopback.
//
//   "NODE TOKEN ROW\n" -> "ok\n" or "refused\n"
//
// One thread serves all connections, so the check of the token and the write are one step, as the gate demands. The gate
// keeps its state in a file: a resource that forgot the newest token in a restart would let an old holder in.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "coordkit/fence.h"
#include "tools/demo/roles.h"
#include "tools/support/report.h"

namespace coordkit::demo {
namespace {

class Resource {
 public:
  explicit Resource(std::unique_ptr<FileFenceGate> gate) : gate_(std::move(gate)) {}
  int run();

 private:
  struct Connection {
    support::Descriptor socket;
    std::string rest;
  };
  bool listen_on_loopback();
  void take_connection();
  bool serve(Connection& connection);  // false: it is over
  std::string answer(const std::string& request);

  support::Reporter report_;
  const std::unique_ptr<FileFenceGate> gate_;
  support::Descriptor listener_;
  std::map<int, Connection> connections_;
};

bool Resource::listen_on_loopback() {
  listener_ = support::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), plain, size) != 0 || listen(listener_.get(), 16) != 0) return false;
  if (getsockname(listener_.get(), plain, &size) != 0) return false;
  report_("listening", {{"port", ntohs(address.sin_port)}});
  return true;
}

void Resource::take_connection() {
  support::Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int fd = socket.get();
  if (fd < 0) return;
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  connections_.emplace(fd, Connection{std::move(socket), {}});
}

bool Resource::serve(Connection& connection) {
  char bytes[4096];
  const ssize_t count = recv(connection.socket.get(), bytes, sizeof bytes, 0);
  if (count <= 0) return false;
  connection.rest.append(bytes, static_cast<size_t>(count));
  for (size_t end = 0; (end = connection.rest.find('\n')) != std::string::npos; connection.rest.erase(0, end + 1)) {
    const std::string reply = answer(connection.rest.substr(0, end));
    if (send(connection.socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return false;
  }
  return true;
}

std::string Resource::answer(const std::string& request) {
  std::istringstream words(request);
  int node = 0;
  uint64_t token = 0;
  uint64_t row = 0;
  words >> node >> token >> row;
  const absl::Status admitted = gate_->admit(Token(token));
  const bool taken = admitted.ok();
  if (!taken && !fenced_by(admitted)) report_("error", {{"what", admitted.ToString()}});
  report_("write", {{"node", node}, {"token", token}, {"row", row}, {"taken", taken}});
  return taken ? "ok\n" : "refused\n";
}

int Resource::run() {
  if (!listen_on_loopback()) return 1;
  while (true) {
    std::vector<pollfd> ready = {{STDIN_FILENO, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& [fd, connection] : connections_) ready.push_back({fd, POLLIN, 0});
    if (poll(ready.data(), ready.size(), -1) < 0) return 1;
    if (ready[0].revents != 0) return 0;  // whatever the story says to it, it means the end
    for (size_t i = 2; i < ready.size(); ++i) {
      if (ready[i].revents != 0 && !serve(connections_.at(ready[i].fd))) connections_.erase(ready[i].fd);
    }
    if (ready[1].revents != 0) take_connection();
  }
}

}  // namespace

int run_resource(const std::string& gate_file) {
  absl::StatusOr<std::unique_ptr<FileFenceGate>> gate = FileFenceGate::open(gate_file);
  if (gate.ok()) return Resource(*std::move(gate)).run();
  support::Reporter()("error", {{"what", gate.status().ToString()}});
  return 1;
}

}  // namespace coordkit::demo
