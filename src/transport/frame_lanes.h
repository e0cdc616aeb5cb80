// The frames that wait to be sent to one peer: two lanes, bounded in frames and bytes. A full lane drops its oldest frame:
// the engine repeats bulk anyway, and a newer liveness message supersedes an older one. Not thread-safe.
#pragma once

#include <deque>
#include <vector>

#include "coordkit/ports/transport.h"
#include "coordkit/transport/tcp_transport.h"

namespace coordkit {

class Outbox {
 public:
  struct Dropped {
    uint64_t control = 0, bulk = 0;
  };

  explicit Outbox(const TcpOptions& options);

  Dropped push(Frame frame);
  // Moves the next frames to `batch`, liveness first, until it has `frames_max` or bulk of `bulk_bytes_max`. Liveness
  // messages that come later overtake the rest.
  void take(std::vector<Frame>& batch, size_t frames_max, size_t bulk_bytes_max);
  Dropped clear();
  // Offline, only the newest few frames are kept.
  void set_online(bool online) { online_ = online; }
  bool empty() const { return control_.frames.empty() && bulk_.frames.empty(); }
  size_t bytes() const { return control_.bytes + bulk_.bytes; }

 private:
  struct Queue {
    size_t frames_max;
    size_t bytes_max;
    std::deque<Frame> frames;
    size_t bytes = 0;  // of the bodies

    uint64_t push(Frame frame, size_t limit);
    Frame pop();
  };
  Queue control_;
  Queue bulk_;
  size_t offline_frames_max_;
  bool online_ = false;
};

}  // namespace coordkit
