// Puts that are offered at a rate whether or not earlier ones were answered: an open loop on one thread, in ticks of a
// millisecond. A late tick offers what it missed, as far as one thread can.
//
// An offer is made as an event-driven service would: two strings, a callback without an allocation, no lock and no reading of
// the clock; it is timed from the beginning of its tick. Its cost is reported, because it is taken from the same processors.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "absl/functional/function_ref.h"
#include "base/random.h"
#include "bench/cluster/measure.h"
#include "coordkit/client/statistics.h"
#include "coordkit/keys/kv.h"

namespace coordkit::bench {

// Puts to kKeys keys in random order.
class RandomPuts {
 public:
  explicit RandomPuts(uint64_t seed) : random_(seed) {}
  PutOperation next();

 private:
  Random random_;
};

// The outcomes of the offered puts.
class Answers {
 public:
  void offered() { under_way_.fetch_add(1, std::memory_order_relaxed); }
  void add(const absl::StatusOr<PutResult>& answer, TimePoint from);
  uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  void wait_for_all() const;
  void tell(nlohmann::ordered_json& line) const;  // then
  uint64_t unknown() const { return unknown_; }

 private:
  void other(const absl::Status& status);

  std::atomic<uint64_t> done_{0}, crowded_out_{0}, under_way_{0};
  WaitTimes took_;  // of the successful ones, recorded by the engine's thread
  std::mutex mutex_;
  std::map<std::string, uint64_t> others_;
  uint64_t unknown_ = 0;
};

struct Flood {
  using Sink = absl::FunctionRef<void(PutOperation, Callback<PutResult>)>;

  double per_s = 0;
  double seconds = 0;
  Duration timeout{};  // of a put

  struct Made {
    uint64_t offered = 0;
    double took_s = 0;
    double processor_s = 0;  // of the offering thread
  };
  // On this thread; `each_second` is called in between.
  Made make(Sink sink, Answers& answers, absl::FunctionRef<void()> each_second) const;
};

// The same flood into nothing: every put is refused immediately. Lasts as long as this object.
class FloodIntoNothing {
 public:
  explicit FloodIntoNothing(double per_s);
  ~FloodIntoNothing();

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace coordkit::bench
