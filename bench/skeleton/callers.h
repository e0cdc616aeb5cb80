// The callers of the skeleton, in the leader's process: the loads lock and handoff of load.h.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/cluster/load_loop.h"
#include "bench/skeleton/records.h"

namespace coordkit::bench::skeleton {

class Callers {
 public:
  // All of them want one lock, and a cycle is a hand-off; or each has a lock of its own, and a cycle is acquire and release.
  enum class Want { OwnLock, OneLock };
  Callers(LoadLoop& loop, size_t count, Want want) : loop_(loop), want_(want), callers_(count), running_(count) {}

  void begin(std::vector<Record>& commands);  // what they send first
  void answered(const Answer& answer, std::vector<Record>& commands);
  bool running() const { return running_ > 0; }

 private:
  struct Caller {
    bool holds = false;
    TimePoint started;
  };

  void acquire(uint32_t number, std::vector<Record>& commands);
  void release(uint32_t number, std::vector<Record>& commands);
  Record record(Step step, uint32_t number) const;

  LoadLoop& loop_;
  const Want want_;
  std::vector<Caller> callers_;
  size_t running_;
  TimePoint released_;  // the one lock, last; the epoch: never
};

}  // namespace coordkit::bench::skeleton
