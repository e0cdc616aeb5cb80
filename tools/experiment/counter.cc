// The counter: one number in a file, one thread for all connections, so that the check of a token and its effect are one step.
//
//   "read TOKEN\n"        -> "value N\n" or "refused\n"
//   "write TOKEN BASE\n"  -> "ok\n" (the number is BASE + 1 now) or "refused\n"
//
// A read shows its token as well: from then on no earlier holder's write is let in between it and its own write.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/fence.h"
#include "tools/experiment/roles.h"
#include "tools/support/report.h"

namespace coordkit::experiment {
namespace {

// Written in place and synced: what was answered is in the file.
class NumberFile {
 public:
  explicit NumberFile(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640)) {
    set(0);
  }
  bool usable() const { return usable_; }
  uint64_t get() const {
    char text[32] = {};
    return pread(file_.get(), text, kWidth, 0) == kWidth ? std::stoull(text) : 0;
  }
  void set(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "%020lu\n", static_cast<unsigned long>(value));
    usable_ = pwrite(file_.get(), text, kWidth, 0) == kWidth && fdatasync(file_.get()) == 0;
  }

 private:
  static constexpr int kWidth = 21;
  support::Descriptor file_;
  bool usable_ = false;
};

class Counter {
 public:
  Counter(const std::filesystem::path& directory, std::unique_ptr<FileFenceGate> gate)
      : number_(directory / "counter"), gate_(std::move(gate)) {}
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
  NumberFile number_;
  const std::unique_ptr<FileFenceGate> gate_;  // null: none
  support::Descriptor listener_;
  std::map<int, Connection> connections_;
  uint64_t writes_ = 0;
  uint64_t refused_ = 0;
};

bool Counter::listen_on_loopback() {
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

void Counter::take_connection() {
  support::Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int fd = socket.get();
  if (fd < 0) return;
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  connections_.emplace(fd, Connection{std::move(socket), {}});
}

bool Counter::serve(Connection& connection) {
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

std::string Counter::answer(const std::string& request) {
  std::istringstream words(request);
  std::string what;
  uint64_t token = 0;
  uint64_t base = 0;
  words >> what >> token >> base;
  if (gate_ && !gate_->admit(Token(token)).ok()) {
    ++refused_;
    return "refused\n";
  }
  if (what == "read") return "value " + std::to_string(number_.get()) + "\n";
  number_.set(base + 1);
  ++writes_;
  return number_.usable() ? "ok\n" : "refused\n";
}

int Counter::run() {
  if (!number_.usable() || !listen_on_loopback()) return 1;
  while (true) {
    std::vector<pollfd> ready = {{STDIN_FILENO, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& [fd, connection] : connections_) ready.push_back({fd, POLLIN, 0});
    if (poll(ready.data(), ready.size(), -1) < 0) return 1;
    for (size_t i = 2; i < ready.size(); ++i) {
      if (ready[i].revents != 0 && !serve(connections_.at(ready[i].fd))) connections_.erase(ready[i].fd);
    }
    if (ready[1].revents != 0) take_connection();
    if (ready[0].revents == 0) continue;  // anything there means the end
    report_("summary", {{"value", number_.get()}, {"writes", writes_}, {"refused", refused_}});
    return number_.usable() ? 0 : 1;
  }
}

}  // namespace

int run_counter(const std::filesystem::path& directory, bool gate) {
  std::unique_ptr<FileFenceGate> opened;
  if (gate) {
    auto file = FileFenceGate::open(directory / "counter.fence");
    if (!file.ok()) {
      support::Reporter()("error", {{"what", file.status().ToString()}});
      return 1;
    }
    opened = *std::move(file);
  }
  return Counter(directory, std::move(opened)).run();
}

}  // namespace coordkit::experiment
