#include "transport/tcp/packet_loss.h"

#include <linux/tcp.h>  // has more than netinet/tcp.h, and does not go with it
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace coordkit::tcp {
namespace {

constexpr int kRtoMaxMs = 44;  // TCP_RTO_MAX_MS and TCP_RTO_MIN_US, of Linux 6.15: newer than most headers
constexpr int kRtoMinUs = 45;
constexpr int kWaitsMostMs = 1000;  // the smallest value that a kernel takes

bool set(int socket, int option, int value) { return setsockopt(socket, IPPROTO_TCP, option, &value, sizeof value) == 0; }

}  // namespace

// A kernel refuses less than two of its ticks, which are 20 ms at most.
void resend_soon(int socket, Duration least) {
  if (least <= Duration::zero()) return;
  set(socket, TCP_THIN_LINEAR_TIMEOUTS, 1);
  set(socket, kRtoMaxMs, kWaitsMostMs);
  for (const Duration wait : {least, std::max<Duration>(least, std::chrono::milliseconds(20))}) {
    if (set(socket, kRtoMinUs, static_cast<int>(wait / std::chrono::microseconds(1)))) return;
  }
}

void use_small_packets(int socket) { set(socket, TCP_MAXSEG, kSmallPacketBytes); }

Packets packets_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {info.tcpi_data_segs_out, info.tcpi_total_retrans};
}

void LossGauge::sent(TimePoint now, Packets all) {
  if (all.sent < last_.sent || all.resent < last_.resent) last_ = {};
  if (now - began_ >= kSpan) {
    before_ = now - began_ < 2 * kSpan ? now_ : Packets();
    now_ = {};
    began_ = now;
  }
  now_.sent += all.sent - last_.sent;
  now_.resent += all.resent - last_.resent;
  last_ = all;
}

int LossGauge::percent(TimePoint now) const {
  if (now - began_ >= 2 * kSpan) return 0;
  const Packets all{now_.sent + before_.sent, now_.resent + before_.resent};
  if (all.resent < kResentLeast || all.sent == 0) return 0;
  const int share = static_cast<int>(100 * all.resent / all.sent);
  return share >= kPercentLeast ? share : 0;
}

}  // namespace coordkit::tcp
