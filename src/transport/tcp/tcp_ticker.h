// Calls at regular intervals, and notices when it could not.
//
// Threads: the one that runs the io_context.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "coordkit/types.h"
#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

class Ticker {
 public:
  // `pause`: how long this thread was held up (suspended, stopped). The peers' data is unread then: the silence was ours.
  using Tick = std::function<void(TimePoint now, Duration pause)>;

  Ticker(asio::io_context& io, Duration interval) : interval_(interval), timer_(io.get_executor()) {}

  // The first tick comes at once. Pending operations keep `owner` alive, which owns this object as well.
  void begin(const std::shared_ptr<void>& owner, Tick tick) {
    tick_ = std::move(tick);
    ticked_ = SteadyClock::now();
    run(owner);
  }
  void close() {
    closed_ = true;
    timer_.cancel();
  }

 private:
  void run(const std::shared_ptr<void>& owner) {
    const TimePoint now = SteadyClock::now();
    const Duration late = now - ticked_ - 2 * interval_;
    ticked_ = now;
    timer_.expires_after(interval_);
    timer_.async_wait([this, owner](const auto& error) {  // first: other ticks then follow one that throws
      if (!error && !closed_) run(owner);
    });
    tick_(now, late > Duration::zero() ? late : Duration::zero());
  }

  const Duration interval_;
  Timer timer_;
  Tick tick_;
  TimePoint ticked_;
  bool closed_ = false;
};

}  // namespace coordkit::tcp
