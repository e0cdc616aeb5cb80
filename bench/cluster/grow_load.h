// Callers that acquire and release a lock each until stopped, by callbacks on the engine's thread, and what
// they saw since the last query: cycles, the longest time without a grant, and refusals by reason.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/measure.h"
#include "coordkit/replica.h"

namespace coordkit::bench {

class GrowLoad : public std::enable_shared_from_this<GrowLoad> {
 public:
  GrowLoad(Session session, size_t callers) : session_(std::move(session)), running_(callers) {}

  void start();
  // seconds, cycles_per_s, longest_gap_ms, refused {reason: count} since the last call; starts over.
  nlohmann::ordered_json lap();
  uint64_t refusals() const;  // in all
  void stop();                // waits for the callers; any stuck after a minute count as refused

 private:
  class Caller;

  void granted();
  void cycled();
  void refused(const absl::Status& status);
  bool over();
  void ended();

  Session session_;
  mutable std::mutex mutex_;  // guards the members below
  size_t running_;
  bool stopping_ = false;
  std::condition_variable all_ended_;
  TimePoint since_ = Clock::now();
  TimePoint last_grant_ = Clock::now();
  Clock::duration longest_gap_{};
  uint64_t cycles_ = 0;
  std::map<std::string, uint64_t> refused_;
  uint64_t refusals_ = 0;
};

}  // namespace coordkit::bench
