// TcpCounters as they grow, counted by the thread of the io_context and by threads that send. Also warnings for an operator.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/transport/tcp_transport.h"
#include "transport/frame_lanes.h"

namespace coordkit::tcp {

class Tally {
 public:
  void opened() { add(opened_); }
  void closed(CloseReason reason) { add(closed_[static_cast<size_t>(reason)]); }
  void sent(size_t frames, uint64_t bytes);
  void received(size_t bytes);
  void received_of_other_group() { add(other_group_); }
  void dropped(const Outbox::Dropped& dropped);
  TcpCounters read() const;

  // The sentences replace the previous ones.
  void warn(std::vector<std::string> sentences) {
    const std::lock_guard lock(mutex_);
    warnings_ = std::move(sentences);
  }
  std::vector<std::string> warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }

 private:
  using Counter = std::atomic<uint64_t>;
  static void add(Counter& counter, uint64_t n = 1) { counter.fetch_add(n, std::memory_order_relaxed); }

  Counter opened_{0}, frames_sent_{0}, bytes_sent_{0}, frames_received_{0}, bytes_received_{0};
  Counter control_dropped_{0}, bulk_dropped_{0}, other_group_{0};
  std::array<Counter, static_cast<size_t>(CloseReason::Count)> closed_{};
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
};

}  // namespace coordkit::tcp
