#include "tests/system/integration/packet_switch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

namespace coordkit::testkit {
namespace {

constexpr size_t kHeaderBytes = 20;      // of IPv4
constexpr size_t kDestinationLast = 19;  // the last byte of the destination's address
constexpr int kPacketsInARow = 64;       // of one host, before the next one's turn
constexpr size_t kPacketBytesMax = 65536;

int make_event() {
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return event;
}

bool is_ipv4(std::string_view packet) { return packet.size() >= kHeaderBytes && (packet[0] & 0xF0) == 0x40; }

}  // namespace

PacketSwitch::PacketSwitch(std::vector<int> descriptors, uint64_t seed)
    : descriptors_(std::move(descriptors)), wake_(make_event()), random_(seed) {
  for (int from = 1; from <= hosts(); ++from) {
    for (int to = 1; to <= hosts(); ++to) links_[{from, to}];
  }
  thread_ = std::thread([this] { run(); });
}

PacketSwitch::~PacketSwitch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void PacketSwitch::set(int from, int to, const Way& way) {
  const std::lock_guard lock(mutex_);
  links_.at({from, to}).way = way;
}

PacketSwitch::Counts PacketSwitch::counts(int from, int to) const {
  const std::lock_guard lock(mutex_);
  return links_.at({from, to}).counts;
}

void PacketSwitch::run() {
  while (true) {
    wait();
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    for (int host = 1; host <= hosts(); ++host) take_from(host);
    deliver_due();
  }
}

// Waits until a host sends something or a packet is due.
void PacketSwitch::wait() {
  std::optional<Clock::time_point> next;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [ends, link] : links_) {
      if (!link.waiting.empty()) next = std::min(next.value_or(Clock::time_point::max()), link.waiting.front().due);
    }
  }
  std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
  for (const int descriptor : descriptors_) polled.push_back({descriptor, POLLIN, 0});
  timespec left{};
  if (next) {
    const auto nanoseconds = std::max<int64_t>(0, std::chrono::nanoseconds(*next - Clock::now()).count());
    left = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  }
  ::ppoll(polled.data(), polled.size(), next ? &left : nullptr, nullptr);
}

void PacketSwitch::take_from(int host) {
  char bytes[kPacketBytesMax];
  for (int i = 0; i < kPacketsInARow; ++i) {
    const ssize_t got = ::read(descriptors_[static_cast<size_t>(host - 1)], bytes, sizeof bytes);
    if (got <= 0) return;
    const std::string_view packet(bytes, static_cast<size_t>(got));
    if (!is_ipv4(packet)) continue;  // IPv6 router solicitations
    const auto found = links_.find({host, static_cast<unsigned char>(packet[kDestinationLast])});
    if (found == links_.end()) continue;
    Counts& counts = found->second.counts;
    ++(accept(found->second, packet) ? counts.carried : counts.lost);
  }
}

// Queues the packet until its time; false: it is lost.
bool PacketSwitch::accept(Link& link, std::string_view bytes) {
  const Way& way = link.way;
  if (way.cut || bytes.size() > way.packet_bytes_max) return false;
  if (way.loss > 0 && std::bernoulli_distribution(way.loss)(random_)) return false;
  Clock::time_point due = Clock::now();
  if (way.bits_per_second > 0) {
    const auto time_of = [&](size_t count) { return std::chrono::nanoseconds(count * 8'000'000'000 / way.bits_per_second); };
    link.free_at = std::max(link.free_at, due);
    if (link.free_at - due > time_of(way.queue_bytes_max)) return false;
    link.free_at += time_of(bytes.size());
    due = link.free_at;
  }
  link.waiting.push_back({due + way.delay, std::string(bytes)});
  return true;
}

void PacketSwitch::deliver_due() {
  const Clock::time_point now = Clock::now();
  for (auto& [ends, link] : links_) {
    const int descriptor = descriptors_[static_cast<size_t>(ends.second - 1)];
    while (!link.waiting.empty() && link.waiting.front().due <= now) {
      const std::string& bytes = link.waiting.front().bytes;
      if (::write(descriptor, bytes.data(), bytes.size()) < 0) ++link.counts.lost;  // the host has no room: lost there
      link.waiting.pop_front();
    }
  }
}

}  // namespace coordkit::testkit
