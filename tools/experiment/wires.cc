#include "tools/experiment/wires.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace coordkit::experiment {
namespace {

using support::Descriptor;

constexpr size_t kFlowMax = 256 << 10;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void refuse(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void send_at_once(const Descriptor& socket) {
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

// Connects in its own time: what is sent before waits.
Descriptor dial(uint16_t port) {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = loopback(port);
  const int result = connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (result != 0 && errno != EINPROGRESS) return {};
  send_at_once(made);
  return made;
}

}  // namespace

bool Wires::Flow::wants_more() const { return bytes.size() < kFlowMax; }

Wires::Wires(int places, int members) : waker_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (waker_.get() < 0) refuse("eventfd");
  for (int from = 1; from <= places; ++from) {
    for (int member = 1; member <= members; ++member) {
      Door& door = doors_[{from, member}];
      door.listener = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      sockaddr_in address = loopback(0);
      socklen_t size = sizeof address;
      auto* plain = reinterpret_cast<sockaddr*>(&address);
      if (bind(door.listener.get(), plain, size) != 0 || listen(door.listener.get(), 64) != 0) refuse("a door");
      if (getsockname(door.listener.get(), plain, &size) != 0) refuse("a door");
      door.port = ntohs(address.sin_port);
    }
  }
  thread_ = std::thread([this] { carry(); });
}

Wires::~Wires() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake();
  thread_.join();
}

void Wires::wake() const {
  if (eventfd_write(waker_.get(), 1) != 0) refuse("eventfd");
}

std::string Wires::door(int from, int member) const { return "127.0.0.1:" + std::to_string(doors_.at({from, member}).port); }

void Wires::lead(int from, int member, const std::string& address) {
  const auto port = static_cast<uint16_t>(address.empty() ? 0 : std::stoul(address.substr(address.rfind(':') + 1)));
  {
    const std::lock_guard lock(mutex_);
    Door& door = doors_.at({from, member});
    if (door.behind == port) return;
    door.behind = port;
    for (Connection& each : connections_) each.over = each.over || each.door == &door;
  }
  wake();
}

uint64_t Wires::connected() {
  const std::lock_guard lock(mutex_);
  return connected_;
}

void Wires::carry() {
  std::vector<pollfd> ready;
  for (std::unique_lock lock(mutex_); !closing_;) {
    std::erase_if(connections_, [](const Connection& each) { return each.over; });
    wait(ready);
    lock.unlock();
    poll(ready.data(), ready.size(), -1);
    lock.lock();
    eventfd_t ignored = 0;
    eventfd_read(waker_.get(), &ignored);
    auto at = ready.begin() + 1;
    for (Connection& each : connections_) {
      const short dialed = (at++)->revents, reached = (at++)->revents;
      const bool goes_on =
          pass(each.dialed, each.there, each.reached, dialed) && pass(each.reached, each.back, each.dialed, reached);
      each.over = each.over || !goes_on;
    }
    for (const auto& [ends, door] : doors_) {
      if ((at++)->revents != 0) accept(door);
    }
  }
}

// In the order of carry(). A connection that is cut meanwhile stays in its place until then.
void Wires::wait(std::vector<pollfd>& ready) {
  ready.assign(1, {waker_.get(), POLLIN, 0});
  const auto events = [](const Flow& in, const Flow& out) {
    return static_cast<short>((in.wants_more() ? POLLIN : 0) | (out.bytes.empty() ? 0 : POLLOUT));
  };
  for (const Connection& each : connections_) {
    ready.push_back({each.dialed.get(), events(each.there, each.back), 0});
    ready.push_back({each.reached.get(), events(each.back, each.there), 0});
  }
  for (const auto& [ends, door] : doors_) ready.push_back({door.listener.get(), POLLIN, 0});
}

void Wires::accept(const Door& door) {
  Descriptor dialed(accept4(door.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (dialed.get() < 0 || door.behind == 0) return;
  Descriptor reached = dial(door.behind);
  if (reached.get() < 0) return;
  send_at_once(dialed);
  ++connected_;
  connections_.push_back({&door, std::move(dialed), std::move(reached), {}, {}, false});
}

// False: one end is gone.
bool Wires::pass(const Descriptor& from, Flow& flow, const Descriptor& to, short from_events) {
  if ((from_events & (POLLHUP | POLLERR)) != 0 && !flow.wants_more()) return false;
  if ((from_events & (POLLIN | POLLHUP | POLLERR)) != 0 && flow.wants_more()) {
    char bytes[65536];
    const ssize_t count = recv(from.get(), bytes, sizeof bytes, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return false;
    if (count > 0) flow.bytes.append(bytes, static_cast<size_t>(count));
  }
  if (flow.bytes.empty()) return true;
  const ssize_t count = send(to.get(), flow.bytes.data(), flow.bytes.size(), MSG_NOSIGNAL);
  if (count < 0) return errno == EAGAIN || errno == ENOTCONN;
  flow.bytes.erase(0, static_cast<size_t>(count));
  return true;
}

}  // namespace coordkit::experiment
