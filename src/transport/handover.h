// Passes values from other threads to the thread of the io_context. It has one value or flag of each kind, never a queue:
// only the newest counts.
//
// Threads: put_*() from any, take_*() from the thread of the io_context. Each put_*() says whether that thread must be woken.
// If not, it has been woken and has not looked yet.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "coordkit/ports/transport.h"

namespace coordkit::tcp {

class Handover {
 public:
  bool put_cluster(ClusterId cluster) {
    cluster_ = cluster.value();
    return !cluster_pending_.exchange(true);
  }
  ClusterId take_cluster() {
    cluster_pending_ = false;  // first: a later value then wakes the thread again
    return ClusterId(cluster_);
  }

  bool put_peers(std::vector<Peer> peers) {
    const std::lock_guard lock(mutex_);
    peers_ = std::move(peers);
    return !std::exchange(peers_pending_, true);
  }
  std::vector<Peer> take_peers() {
    const std::lock_guard lock(mutex_);
    peers_pending_ = false;
    return std::move(peers_);
  }

  // Reports that a frame was too long.
  bool put_oversize() { return !oversize_pending_.exchange(true); }
  void take_oversize() { oversize_pending_ = false; }

 private:
  std::atomic<uint64_t> cluster_{0};
  std::atomic<bool> cluster_pending_{false};
  std::mutex mutex_;  // guards the next two
  std::vector<Peer> peers_;
  bool peers_pending_ = false;
  std::atomic<bool> oversize_pending_{false};
};

}  // namespace coordkit::tcp
