// Operations that are due at a rate, whether or not earlier ones were answered: the n-th is due n/rate after the first. Each
// counts from the moment at which it was due, however late it begins. So one that found no free caller, or that came after a
// slow one, has waited since then, as who wanted it has: the correction of what is called coordinated omission.
//
// Threads: wait() from any; an operation begins on this object's thread, or, when it is late, on that of the caller that
// became free.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "absl/functional/any_invocable.h"

namespace coordkit::bench {

class Pacer {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = TimePoint::duration;
  using Start = absl::AnyInvocable<void(TimePoint due)>;
  using Ended = absl::AnyInvocable<void()>;

  struct Plan {
    double per_s = 0;     // above zero
    TimePoint first;      // is due then
    TimePoint end;        // nothing is due from then on
    Duration patience{};  // how long after the end what is late may still begin
  };

  explicit Pacer(Plan plan);
  ~Pacer();  // waits for the end of the plan

  // A free caller: `start` begins the next operation once it is due; `ended`, instead, if there is none any more.
  void wait(Start start, Ended ended);

  // Operations that were due and found no caller in time, from the first of them on. Once all callers have been told the end.
  uint64_t never_begun() const;
  TimePoint due(uint64_t number) const;  // of the operations, from zero on
  uint64_t planned() const { return planned_; }
  double cores() const;  // processors that this object's thread took in the time of the plan; likewise

 private:
  struct Caller {
    Start start;
    Ended ended;
  };

  void run();
  TimePoint last_begin() const { return plan_.end + plan_.patience; }
  bool overdue(TimePoint now) const { return begun_ < planned_ && due(begun_) <= now; }
  bool begin_next(std::unique_lock<std::mutex>& lock);
  void finish();

  const Plan plan_;
  const uint64_t planned_;
  mutable std::mutex mutex_;  // guards the next four
  std::deque<Caller> free_;
  uint64_t begun_ = 0;
  bool over_ = false;
  double processor_s_ = 0;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace coordkit::bench
