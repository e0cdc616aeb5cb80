// Callers that each have one operation in progress, and their measurements in a window of time.
//
// Threads: any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "bench/cluster/measure.h"

namespace coordkit::bench {

class ClosedLoop {
 public:
  ClosedLoop(size_t callers, Seconds warmup, Seconds length)
      : window_(Window::after(warmup, length)), length_(length), cycles_(1 << 20), running_(callers) {}

  // A caller asks before each operation, and reports when it has stopped.
  bool over() const { return Clock::now() >= window_.end || errors_.load(std::memory_order_relaxed) >= kErrorsMax; }
  void caller_ended();

  void cycle(TimePoint from, TimePoint to);
  void error(const absl::Status& status);

  // Waits until all callers have ended. The fields of summary(), errors and, if there were any, first_error.
  nlohmann::ordered_json wait();

 private:
  static constexpr size_t kErrorsMax = 100;  // a broken cluster must not be hammered for the rest of the window

  const Window window_;
  const Seconds length_;
  std::atomic<size_t> errors_{0};
  std::mutex mutex_;  // guards the members below; uncontended when the callers are on the engine's thread
  Latencies cycles_;
  std::string first_error_;
  size_t running_;
  std::condition_variable all_ended_;
};

}  // namespace coordkit::bench
