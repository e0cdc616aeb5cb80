// Callers that each have one operation in progress, and their measurements in a window of time. In a closed loop a caller
// begins the next operation when the last one is answered. With a rate it is an open one: operations are due on time, each
// taken by a caller that is free, and count from the moment they were due (pacer.h).
//
// Threads: any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/pacer.h"

namespace coordkit::bench {

class LoadLoop {
 public:
  // `per_s`: operations that are due in a second; 0: a closed loop.
  LoadLoop(size_t callers, Seconds warmup, Seconds length, double per_s = 0);

  // A caller asks before each operation, and reports when it has stopped. Closed loops only.
  bool over(TimePoint now = Clock::now()) const { return now >= window_.end || broken(); }
  void caller_ended();

  // A caller is free: `start(from)` begins its next operation, which counts from then, at once or when one is due. It is not
  // called any more once the loop is over.
  template <typename Start>
  void next(Start start) {
    if (pacer_ && !broken()) return pacer_->wait(std::move(start), [this] { caller_ended(); });
    const TimePoint now = Clock::now();
    if (over(now)) return caller_ended();
    start(now);
  }

  void cycle(TimePoint from, TimePoint to);
  void error(const absl::Status& status);

  // Waits until all callers have ended. The fields of summary(), errors and, if there were any, first_error. Of an open loop
  // too: never_begun, the operations that found no caller until long after the end and count as if they had begun then, and
  // offering_cores, the processors taken by beginning them.
  nlohmann::ordered_json wait();

 private:
  static constexpr size_t kErrorsMax = 100;  // a broken cluster must not be hammered for the rest of the window

  bool broken() const { return errors_.load(std::memory_order_relaxed) >= kErrorsMax; }
  nlohmann::ordered_json open_summary();

  const Window window_;
  const Seconds length_;
  std::atomic<size_t> errors_{0};
  std::mutex mutex_;  // guards the members below; uncontended when the callers are on the engine's thread
  Latencies cycles_;
  uint64_t ended_in_window_ = 0;
  std::string first_error_;
  size_t running_;
  std::condition_variable all_ended_;
  std::unique_ptr<Pacer> pacer_;  // none: a closed loop
};

}  // namespace coordkit::bench
