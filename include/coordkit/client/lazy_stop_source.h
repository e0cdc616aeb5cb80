// A std::stop_source that allocates nothing until it is needed: most holds end without a listener.
//
// Threads: any.
#pragma once

#include <atomic>
#include <stop_token>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class LazyStopSource {
 public:
  LazyStopSource() = default;
  ~LazyStopSource() { delete made_.load(std::memory_order_acquire); }
  LazyStopSource(const LazyStopSource&) = delete;
  LazyStopSource& operator=(const LazyStopSource&) = delete;

  // Makes this one and `other` stop together. Call it before any other thread knows this one, and
  // before its first use.
  void share(const LazyStopSource& other) { made_.store(new std::stop_source(other.source()), std::memory_order_release); }
  // The token of this source, which it makes now if nothing has needed it before.
  std::stop_token get_token() const { return source().get_token(); }
  // Runs the listeners' callbacks here; no effect on a second call.
  void request_stop() { source().request_stop(); }
  // False also while nothing has needed it.
  bool stop_requested() const {
    const std::stop_source* const made = made_.load(std::memory_order_acquire);
    return made != nullptr && made->stop_requested();
  }

 private:
  std::stop_source& source() const {
    std::stop_source* made = made_.load(std::memory_order_acquire);
    if (made != nullptr) return *made;
    auto* const mine = new std::stop_source;
    if (made_.compare_exchange_strong(made, mine, std::memory_order_acq_rel)) return *mine;
    delete mine;  // another thread was faster
    return *made;
  }

  mutable std::atomic<std::stop_source*> made_{nullptr};
};

}  // namespace coordkit
