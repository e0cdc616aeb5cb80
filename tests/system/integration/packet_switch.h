// The network between hosts of a test: takes whole IPv4 packets from each host's descriptor, and carries, delays, drops or
// limits them on the way to the host they are addressed to. A way is one direction of one pair; all of them are independent.
//
// It replaces `tc netem`, which not every kernel has: everything done to packets is in here and the same everywhere.
// Nothing answers for a packet that is lost (no ICMP), as on the worst of real networks. Threads: one of its own; all methods
// are thread-safe. Lifetime: the descriptors outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/support/child.h"

namespace coordkit::testkit {

struct Way {
  bool cut = false;
  double loss = 0;                      // of packets, 0 to 1
  std::chrono::milliseconds delay{0};   // of each packet
  size_t packet_bytes_max = SIZE_MAX;   // larger ones vanish
  uint64_t bits_per_second = 0;         // zero: unlimited
  size_t queue_bytes_max = 256 * 1024;  // waiting for a narrow way; excess ones are lost
};

class PacketSwitch {
 public:
  struct Counts {
    uint64_t carried = 0;
    uint64_t lost = 0;
  };

  // The hosts are 1, 2, ... in the order of `descriptors`, which do not block; a packet's last byte of the destination address
  // names its host. Losses are drawn from `seed`.
  PacketSwitch(std::vector<int> descriptors, uint64_t seed);
  ~PacketSwitch();

  void set(int from, int to, const Way& way);
  Counts counts(int from, int to) const;
  int hosts() const { return static_cast<int>(descriptors_.size()); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Packet {
    Clock::time_point due;
    std::string bytes;
  };
  struct Link {
    Way way;
    Counts counts;
    std::deque<Packet> waiting;
    Clock::time_point free_at;  // the narrow way is busy with accepted packets until then
  };

  void run();
  void wait();
  void take_from(int host);
  bool accept(Link& link, std::string_view bytes);
  void deliver_due();

  const std::vector<int> descriptors_;
  const support::Descriptor wake_;
  mutable std::mutex mutex_;  // guards all below
  std::mt19937_64 random_;
  std::map<std::pair<int, int>, Link> links_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace coordkit::testkit
