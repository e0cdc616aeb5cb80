// A caller that puts one key after the other in its own thread and keeps a record: what was acknowledged, and how long it
// waited from one acknowledgement to the next. And the times that calls took, sorted.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "coordkit/replica.h"

namespace coordkit::testkit {

// Sorted by size afterwards.
class Times {
 public:
  void add(Duration time) { times_.push_back(time); }
  // "COUNT MEDIAN P99 MAX", in microseconds.
  std::string summary() const;

 private:
  std::vector<Duration> times_;
};

class Load {
 public:
  // Puts `prefix`1 = 1, `prefix`2 = 2, ... until stop(). The replica outlives it. A failed put is not retried.
  Load(Replica& replica, std::string prefix);
  ~Load() { stop(); }
  void stop();

  // After stop(): "COUNT MEDIAN P99 MAX" of the gaps, the number of puts whose outcome is unknown, of those refused without
  // effect, and the numbers that were acknowledged, as "1-7,9-20".
  std::string report() const;

 private:
  void run(const std::stop_token& stop);
  void acknowledged(uint64_t number);

  Replica& replica_;
  const std::string prefix_;
  Times gaps_;
  uint64_t unknown_ = 0;
  uint64_t refused_ = 0;
  struct Run {
    uint64_t first = 0;
    uint64_t last = 0;
  };
  std::vector<Run> acknowledged_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace coordkit::testkit
