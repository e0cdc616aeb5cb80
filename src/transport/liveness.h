// Whether the peer of a connection is alive, and when it must be pinged. Pure: times and the kernel's counts are passed in.
//
// On a narrow link a ping waits behind bulk for longer than the idle timeout. As long as TCP drains the backlog, the peer is
// alive. A narrow link moves seldom, so there is an idle timeout for that, too. Without a backlog TCP proves nothing: the
// kernel of a stopped process acknowledges too.
#pragma once

#include <algorithm>

#include "coordkit/types.h"
#include "transport/tcp/packet_loss.h"
#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

class Liveness {
 public:
  Liveness(TimePoint opened, Duration hello_timeout, Duration idle_timeout)
      : hello_timeout_(hello_timeout),
        idle_timeout_(idle_timeout),
        opened_at_(opened),
        last_received_(opened),
        pinged_(opened) {}

  void received(TimePoint now) { last_received_ = now; }
  bool received_since(TimePoint at) const { return last_received_ >= at; }
  // This end was held up for so long: that is not the peer's silence.
  void excuse(Duration pause) {
    opened_at_ += pause;
    last_received_ += pause;
    moved_at_ += pause;
  }

  // ---- until both ends are proven
  bool hello_late(TimePoint now) const { return now - opened_at_ > hello_timeout_; }
  void established() { established_at_ = last_received_; }
  TimePoint established_at() const { return established_at_; }  // zero: it is not

  // ---- afterwards
  void wrote(uint64_t bytes) { written_ += bytes; }
  bool silent(TimePoint now) const { return now - last_received_ > idle_timeout_; }
  // Must be called in every tick. `unacknowledged`: bytes that the peer's kernel has yet to acknowledge, perhaps of a write
  // that is not counted yet.
  bool backlog_moves(TimePoint now, uint64_t unacknowledged) {
    unacknowledged_ = unacknowledged;
    const uint64_t acknowledged = written_ - std::min(written_, unacknowledged);
    if (acknowledged > acknowledged_) moved_at_ = now;
    acknowledged_ = std::max(acknowledged_, acknowledged);
    return unacknowledged > 0 && now - moved_at_ <= idle_timeout_;
  }
  bool backlog() const { return unacknowledged_ > 0; }
  // `all`: the packets of this connection so far, as the kernel counts them.
  void packets_sent(Packets all) { packets_ = all; }
  Packets packets() const { return packets_; }
  bool ping_due(TimePoint now) const { return now - pinged_ >= idle_timeout_ / 3; }
  void pinged(TimePoint now) { pinged_ = now; }

 private:
  const Duration hello_timeout_;
  const Duration idle_timeout_;
  TimePoint opened_at_;
  TimePoint last_received_;
  TimePoint pinged_;
  TimePoint established_at_;
  uint64_t written_ = 0;         // bytes, to the kernel
  uint64_t acknowledged_ = 0;    // of these, acknowledged by the peer's kernel, as far as seen
  TimePoint moved_at_;           // when that was last seen to grow
  uint64_t unacknowledged_ = 0;  // as last seen
  Packets packets_;
};

}  // namespace coordkit::tcp
