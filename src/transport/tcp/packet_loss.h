// Lost packets: how soon the kernel sends them again, and how many there are.
//
// Over TCP a lost packet holds up everything behind it, heartbeats and votes too. By default Linux sends again after 200 ms,
// then after 400 ms, 800 ms and so on. Where three packets of ten are lost, such a connection is, in half of all moments,
// silent for more than 300 ms (docs/operations.md has the table).
#pragma once

#include <chrono>
#include <cstdint>

#include "coordkit/types.h"

namespace coordkit::tcp {

// Asks the kernel to send a packet again after a round trip and `least`. It also asks it not to double that while little is
// under way, and never to wait longer than a second. A kernel before Linux 6.15 knows only the second of these. Zero leaves
// both to the kernel.
void resend_soon(int socket, Duration least);

// Called before the socket is connected. Both ends then send at most kSmallPacketBytes of data in a packet. Such packets pass
// wherever IPv6 does.
inline constexpr int kSmallPacketBytes = 1200;
void use_small_packets(int socket);

// The packets of one connection since it was made.
struct Packets {
  uint64_t sent = 0;    // with data, repeated ones included
  uint64_t resent = 0;  // the repeated ones
};
Packets packets_of(int socket);

// The share of packets that were sent again in the last 10 to 20 seconds. Pure; times are passed in.
class LossGauge {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // All packets of the connection in use so far. If they are fewer than before, it is another connection.
  void sent(TimePoint now, Packets all);
  // In percent. Zero if it is below 5, or if fewer than ten packets were sent again.
  int percent(TimePoint now) const;

 private:
  static constexpr Duration kSpan = std::chrono::seconds(10);
  static constexpr uint64_t kResentLeast = 10;
  static constexpr int kPercentLeast = 5;

  Packets last_;     // of the connection in use
  TimePoint began_;  // when the span of `now_` began
  Packets now_;
  Packets before_;  // in the span before `now_`
};

}  // namespace coordkit::tcp
